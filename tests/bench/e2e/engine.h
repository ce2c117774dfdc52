// What the benchmark has of the load tester's engine (client/loadtest).
#pragma once

#include "client/loadtest/figures/arrivals.h"
#include "client/loadtest/load/lane.h"
#include "client/loadtest/load/measure.h"
#include "client/loadtest/transport/transport.h"

namespace opserve::bench {

using loadtest::Answer;
using loadtest::Connection;
using loadtest::Lane;
using loadtest::LaneDone;
using loadtest::Lanes;
using loadtest::Measurement;
using loadtest::Message;
using loadtest::Outcome;
using loadtest::RatePhase;
using loadtest::Stream;
using loadtest::StreamHandler;

}  // namespace opserve::bench
