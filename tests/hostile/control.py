"""No attack: processes that burn as much of the processors as attackers do, and send nothing. What the victim's calls
take then is what two cores can give.
"""

import attack


def burn(target: attack.Target) -> None:
    number = 1
    while True:
        number = number * 3 % 1000003


if __name__ == "__main__":
    attack.run(attack.Attack([burn, burn]))
