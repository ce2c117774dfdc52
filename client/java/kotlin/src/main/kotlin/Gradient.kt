// Computes gradients on an opserve server from Kotlin: `Gradient [TARGET]`, by default $OPSERVE_TARGET or localhost:8500.

import dev.opserve.Client
import dev.opserve.InvalidArgumentException
import dev.opserve.Tensor
import dev.opserve.ops.Losses
import dev.opserve.ops.Reduction
import kotlin.system.exitProcess

fun main(arguments: Array<String>) {
    val ones = Tensor.of(FloatArray(8) { 1f }, 4, 2)
    val self = Tensor.of(FloatArray(8) { it.toFloat() }, 4, 2)
    val call = Losses.smoothL1LossBackward(ones, self, ones).reduction(Reduction.NONE).beta(1.0)
    Client.connect(*arguments).use { client ->
        val result = client.execute(call)
        println("grad_input " + result["grad_input"].toFloats().joinToString(" ") { "%.0f".format(it) })
        client.session().use { session ->
            val x = session.tensor(self)
            val out = session.execute(Losses.smoothL1LossBackward(ones, x, ones).reduction(Reduction.NONE))
            check(out["grad_input"].download().toFloats().contentEquals(result["grad_input"].toFloats()))
        }
        try {
            client.execute(Losses.smoothL1Loss(self, self).beta(-1.0))
            exitProcess(1)
        } catch (error: InvalidArgumentException) {
            println("${error.parameter()}: want ${error.want()}, got ${error.got()}")
        }
    }
}
