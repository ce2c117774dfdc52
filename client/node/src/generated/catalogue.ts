// Made by client/catalogue/generate.py: what each operator takes and gives. T is what stands for a tensor.

/** The operators of this version by name. */
export interface Operators<T> {
  /**
   * Mean absolute error of self against target.
   *
   * loss = |self - target|
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   * Integers and bools are taken only beside a floating input.
   */
  L1Loss: {
    inputs: {
      /**
       * the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16, int8, int16, int32, int64, uint8, bool
       */
      self: T;
      /**
       * the truth; any that broadcasts with the other inputs; float32, float16, bfloat16, int8, int16, int32, int64, uint8, bool
       */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of L1Loss with respect to self.
   *
   * grad_input = sign(self - target) * (grad_output * k)
   * sign(0) = 0 and sign(NaN) = 0. k = 1/n for reduction mean, n the number of elements of grad_input; k = 1 for none and sum.
   * Unlike PyTorch, n counts the elements after broadcasting.
   * Integers and bools are taken only beside a floating input.
   */
  L1LossBackward: {
    inputs: {
      /**
       * gradient of the loss's result; a scalar for mean and sum; any that broadcasts with the other inputs; float32, float16, bfloat16, int8, int16, int32, int64, uint8, bool
       */
      grad_output: T;
      /**
       * the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16, int8, int16, int32, int64, uint8, bool
       */
      self: T;
      /**
       * the truth; any that broadcasts with the other inputs; float32, float16, bfloat16, int8, int16, int32, int64, uint8, bool
       */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * Huber-like loss: quadratic near zero, linear beyond beta.
   *
   * x = self - target
   * loss = 0.5 * x * x / beta where |x| < beta, |x| - 0.5 * beta elsewhere
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0. beta = 0 is L1Loss.
   */
  SmoothL1Loss: {
    inputs: {
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
      /** where the loss turns from quadratic to linear; may be infinite; 1 unless given */
      beta?: number | undefined;
    };
    outputs: 'result';
  };
  /**
   * Gradient of SmoothL1Loss with respect to self.
   *
   * x = self - target
   * grad_input = s * (grad_out * k), s = -1 where x <= -beta, +1 where x >= beta, x / beta between
   * k = 1/n for reduction mean, n the number of elements of grad_input; k = 1 for none and sum. A NaN x gives NaN.
   * beta = 0 is exactly L1LossBackward: sign(0) = sign(NaN) = 0, where PyTorch gives -grad and NaN. Unlike PyTorch, n counts the elements after broadcasting.
   */
  SmoothL1LossBackward: {
    inputs: {
      /**
       * gradient of the loss's result; a scalar for mean and sum; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      grad_out: T;
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
      /** where the loss turns from quadratic to linear; may be infinite; 1 unless given */
      beta?: number | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * Mean squared error of self against target.
   *
   * loss = (self - target)^2
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   */
  MseLoss: {
    inputs: {
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of MseLoss with respect to self.
   *
   * out = 2 * (self - target) * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   */
  MseLossBackward: {
    inputs: {
      /**
       * gradient of the loss's result; a scalar unless the reduction is none; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      grad_output: T;
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Kullback-Leibler divergence of target from a prediction that is a logarithm.
   *
   * loss = target * (log(target) - self), 0 where target = 0; with log_target exp(target) * (target - self)
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0. batchmean gives their sum over the first extent; of a scalar it is the sum.
   * An output that is given for a reduced result may have shape [1], too.
   */
  KlDiv: {
    inputs: {
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | 'batchmean' | undefined;
      /** whether target is given as its logarithm; false unless given */
      log_target?: boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of KlDiv with respect to self.
   *
   * out = -target * (grad_output * k); with log_target -exp(target) * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum. For batchmean n is the first extent of the result.
   */
  KlDivBackward: {
    inputs: {
      /**
       * gradient of the loss's result; a scalar unless the reduction is none; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      grad_output: T;
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | 'batchmean' | undefined;
      /** whether target is given as its logarithm; false unless given */
      log_target?: boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * Logistic loss of self against a target of -1 or 1.
   *
   * loss = log(1 + exp(-target * self))
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   */
  SoftMarginLoss: {
    inputs: {
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of SoftMarginLoss with respect to self.
   *
   * out = -target * sigmoid(-target * self) * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   */
  SoftMarginLossBackward: {
    inputs: {
      /**
       * gradient of the loss's result; a scalar unless the reduction is none; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      grad_output: T;
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Cross entropy of a probability against a target in [0, 1].
   *
   * loss = -weight * (target * log(self) + (1 - target) * log(1 - self))
   * Each logarithm counts as -100 where it is less. A self outside [0, 1] gives NaN, where PyTorch fails.
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   */
  BinaryCrossEntropy: {
    inputs: {
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
      /**
       * factor of the loss of each element; 1 when not given; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      weight?: T | undefined;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of BinaryCrossEntropy with respect to self.
   *
   * out = (self - target) / max((1 - self) * self, 1e-12) * weight * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   */
  BinaryCrossEntropyBackward: {
    inputs: {
      /**
       * gradient of the loss's result; a scalar unless the reduction is none; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      grad_output: T;
      /** the prediction; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
      /**
       * factor of the loss of each element; 1 when not given; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      weight?: T | undefined;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Cross entropy of the sigmoid of self against a target in [0, 1].
   *
   * loss = weight * ((1 - target) * self + (pos_weight * target + 1 - target) * log(1 + exp(-self)))
   * reduction none gives the loss of each element, mean their mean, sum their sum. An empty tensor has mean NaN and sum 0.
   */
  BinaryCrossEntropyWithLogits: {
    inputs: {
      /** the logits; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
      /**
       * factor of the loss of each element; 1 when not given; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      weight?: T | undefined;
      /**
       * factor of what a positive target adds; 1 when not given; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      pos_weight?: T | undefined;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of BinaryCrossEntropyWithLogits with respect to self.
   *
   * out = ((pos_weight * target + 1 - target) * sigmoid(self) - pos_weight * target) * weight * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   */
  BinaryCrossEntropyWithLogitsBackward: {
    inputs: {
      /**
       * gradient of the loss's result; a scalar unless the reduction is none; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      grad_output: T;
      /** the logits; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
      /**
       * factor of the loss of each element; 1 when not given; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      weight?: T | undefined;
      /**
       * factor of what a positive target adds; 1 when not given; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      pos_weight?: T | undefined;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of BinaryCrossEntropyWithLogits with respect to target.
   *
   * grad_target = ((pos_weight - 1) * log(1 + exp(-self)) - self) * weight * (grad_output * k)
   * k = 1/n for reduction mean, n the number of elements of the result; k = 1 for none and sum.
   * target itself decides nothing but the shape.
   */
  BinaryCrossEntropyWithLogitsTargetBackward: {
    inputs: {
      /**
       * gradient of the loss's result; a scalar unless the reduction is none; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      grad_output: T;
      /** the logits; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      self: T;
      /** the truth; any that broadcasts with the other inputs; float32, float16, bfloat16 */
      target: T;
      /**
       * factor of the loss of each element; 1 when not given; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      weight?: T | undefined;
      /**
       * factor of what a positive target adds; 1 when not given; any that broadcasts with the other inputs; float32, float16, bfloat16
       */
      pos_weight?: T | undefined;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
    };
    outputs: 'grad_target';
  };
  /**
   * Negative log likelihood of the classes in target.
   *
   * loss = -weight[t] * self[t] of each sample, t its class in target; 0 where t is ignore_index
   * reduction none gives the loss of each sample, sum their sum, mean their sum over the sum of their weights: NaN where no target counts. total_weight is that sum, and 0 for reduction none.
   * A target that is no class and not ignore_index is an error, and nothing is written.
   */
  NLLLoss: {
    inputs: {
      /** logarithms of the probabilities of the classes; (C) or (N, C); float32, float16, bfloat16 */
      self: T;
      /** the class of each sample, in [0, C), or ignore_index; self's without C; int32, int64, uint8 */
      target: T;
      /** weight of each class; 1 when not given; (C); float32, float16, bfloat16 */
      weight?: T | undefined;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
      /** the class of targets that do not count; -100 unless given */
      ignore_index?: number | bigint | undefined;
    };
    outputs: 'out' | 'total_weight';
  };
  /**
   * Gradient of NLLLoss with respect to self.
   *
   * out[t] = -weight[t] * grad_output of each sample, t its class in target, divided by total_weight for reduction mean; 0 of all other classes, and where t is ignore_index
   * A target that is no class and not ignore_index is an error, and nothing is written.
   */
  NLLLossBackward: {
    inputs: {
      /** gradient of out; target's for reduction none, else a single element; float32, float16, bfloat16 */
      grad_output: T;
      /** logarithms of the probabilities of the classes; (C) or (N, C); float32, float16, bfloat16 */
      self: T;
      /** the class of each sample, in [0, C), or ignore_index; self's without C; int32, int64, uint8 */
      target: T;
      /** weight of each class; 1 when not given; (C); float32, float16, bfloat16 */
      weight?: T | undefined;
      /** the forward's total_weight; a single element; float32, float16, bfloat16 */
      total_weight: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
      /** the class of targets that do not count; -100 unless given */
      ignore_index?: number | bigint | undefined;
    };
    outputs: 'out';
  };
  /**
   * Negative log likelihood of the class of each pixel.
   *
   * loss = -weight[t] * self[t] of each sample, t its class in target; 0 where t is ignore_index
   * reduction none gives the loss of each sample, sum their sum, mean their sum over the sum of their weights: NaN where no target counts. total_weight is that sum, and 0 for reduction none.
   * A target that is no class and not ignore_index is an error, and nothing is written.
   */
  NLLLoss2d: {
    inputs: {
      /** logarithms of the probabilities of the classes; (N, C, H, W); float32, float16, bfloat16 */
      self: T;
      /** the class of each sample, in [0, C), or ignore_index; (N, H, W); int32, int64, uint8 */
      target: T;
      /** weight of each class; 1 when not given; (C); float32, float16, bfloat16 */
      weight?: T | undefined;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
      /** the class of targets that do not count; -100 unless given */
      ignore_index?: number | bigint | undefined;
    };
    outputs: 'out' | 'total_weight';
  };
  /**
   * Gradient of NLLLoss2d with respect to self.
   *
   * out[t] = -weight[t] * grad_output of each sample, t its class in target, divided by total_weight for reduction mean; 0 of all other classes, and where t is ignore_index
   * A target that is no class and not ignore_index is an error, and nothing is written.
   */
  NLLLoss2dBackward: {
    inputs: {
      /** gradient of out; target's for reduction none, else a single element; float32, float16, bfloat16 */
      grad_output: T;
      /** logarithms of the probabilities of the classes; (N, C, H, W); float32, float16, bfloat16 */
      self: T;
      /** the class of each sample, in [0, C), or ignore_index; (N, H, W); int32, int64, uint8 */
      target: T;
      /** weight of each class; 1 when not given; (C); float32, float16, bfloat16 */
      weight?: T | undefined;
      /** the forward's total_weight; a single element; float32, float16, bfloat16 */
      total_weight: T;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
      /** the class of targets that do not count; -100 unless given */
      ignore_index?: number | bigint | undefined;
    };
    outputs: 'out';
  };
  /**
   * Cross entropy of classes and what a model says of each.
   *
   * log_prob = LogSoftmax(self) along C
   * loss = -(1 - e) * weight[t] * log_prob[t] - e / C * sum of weight * log_prob over C, of each sample, t its class in target and e label_smoothing; 0 where t is ignore_index
   * reduction none gives the loss of each sample, sum their sum, mean their sum over the sum of weight[t]: NaN where no target counts.
   * A target that is no class and not ignore_index is an error, and nothing is written. There is no z-loss, whose arguments and results must be left out.
   */
  CrossEntropyLoss: {
    inputs: {
      /** a number of each class of each sample; (N, C); float32, float16, bfloat16 */
      self: T;
      /** the class of each sample, in [0, C), or ignore_index; (N); int32, int64, uint8 */
      target: T;
      /** weight of each class; 1 when not given; (C); float32 */
      weight?: T | undefined;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
      /** the class of targets that do not count; -100 unless given */
      ignore_index?: number | bigint | undefined;
      /** the share of a sample's weight that all classes have alike; 0 unless given */
      label_smoothing?: number | undefined;
      /** must be 0: there is no z-loss; 0 unless given */
      lse_square_scale_for_zloss?: number | undefined;
      /** must be false: there is no z-loss; false unless given */
      return_zloss?: boolean | undefined;
    };
    outputs: 'loss' | 'log_prob' | 'zloss' | 'lse_for_zloss';
  };
  /**
   * Gradient of CrossEntropyLoss with respect to self.
   *
   * out = k * (exp(log_prob) * ((1 - e) * weight[t] + e / C * sum of weight) - e / C * weight), less k * (1 - e) * weight[t] at t, of each sample, t its class in target and e label_smoothing; 0 where t is ignore_index
   * k = grad_loss, for reduction mean divided by the sum of weight[t] over the samples that count.
   * A target that is no class and not ignore_index is an error, and nothing is written.
   */
  CrossEntropyLossGrad: {
    inputs: {
      /** gradient of loss; (N) for reduction none, else a single element; float32, float16, bfloat16 */
      grad_loss: T;
      /** the forward's log_prob; (N, C); float32, float16, bfloat16 */
      log_prob: T;
      /** the class of each sample, in [0, C), or ignore_index; (N); int32, int64, uint8 */
      target: T;
      /** weight of each class; 1 when not given; (C); float32 */
      weight?: T | undefined;
      /** must be left out: there is no z-loss; none; float32, float16, bfloat16 */
      grad_zloss?: T | undefined;
      /** must be left out: there is no z-loss; none; float32, float16, bfloat16 */
      lse_for_zloss?: T | undefined;
    };
    attributes: {
      /** what is made of the losses of the elements; 'mean' unless given */
      reduction?: 'none' | 'mean' | 'sum' | undefined;
      /** the class of targets that do not count; -100 unless given */
      ignore_index?: number | bigint | undefined;
      /** the share of a sample's weight that all classes have alike; 0 unless given */
      label_smoothing?: number | undefined;
      /** must be 0: there is no z-loss; 0 unless given */
      lse_square_scale_for_zloss?: number | undefined;
    };
    outputs: 'out';
  };
  /**
   * Connectionist temporal classification loss: how unlikely the labels are, over all alignments.
   *
   * l' is a sample's labels with blanks between and around. log_alpha[n][t][s] is the logarithm of the probability of all alignments of l'_0 to l'_s with the first t + 1 steps; -inf for s beyond l' and t beyond the sample's steps.
   * neg_log_likelihood = -logsumexp(log_alpha of the last two s at the last step); without steps 0 when there are no labels, else +inf. It stays +inf under zero_infinity, where PyTorch's module would put 0.
   * Every profile but host wants N > 0.
   */
  CtcLoss: {
    inputs: {
      /** logarithms of the probabilities of the classes; (T, N, C), T > 0; float32, float64 */
      log_probs: T;
      /**
       * labels in [0, C), whole numbers; (N, >= the longest target) padded, or (sum of target_lengths); float32, float16, int32, int64, bool
       */
      targets: T;
    };
    attributes: {
      /** time steps of each sample, at most T */
      input_lengths: readonly number[] | readonly bigint[];
      /** labels of each sample */
      target_lengths: readonly number[] | readonly bigint[];
      /** the class that stands for no label, below C; 0 unless given */
      blank?: number | bigint | undefined;
      /** whether samples of infinite loss have gradient 0, not NaN; false unless given */
      zero_infinity?: boolean | undefined;
    };
    outputs: 'neg_log_likelihood' | 'log_alpha';
  };
  /**
   * Gradient of CtcLoss with respect to the logits before log_softmax.
   *
   * beta[t][s] is the backward recursion in log space over the labels with blanks between and around; res[t][c] is the logsumexp of log_alpha + beta over the s whose label is c.
   * grad = (exp(log_probs) - exp(res + neg_log_likelihood - log_probs)) * grad_out for the steps of a sample, 0 beyond. log_alpha and neg_log_likelihood are taken as given.
   * A sample of infinite loss has gradient 0 with zero_infinity, else NaN. log_probs = -inf gives NaN at its class. A label equal to blank counts as any other, where PyTorch forgets a term at the last step.
   * Every profile but host wants N > 0.
   */
  CtcLossBackward: {
    inputs: {
      /** gradient of each sample's loss; (N); float32, float64 */
      grad_out: T;
      /** logarithms of the probabilities of the classes; (T, N, C), T > 0; float32, float64 */
      log_probs: T;
      /**
       * labels in [0, C), whole numbers; (N, >= the longest target) padded, or (sum of target_lengths); float32, float16, int32, int64, bool
       */
      targets: T;
      /** the loss of each sample; (N); float32, float64 */
      neg_log_likelihood: T;
      /** forward variables in log space; (N, T, >= 2 * the longest target + 1); float32, float64 */
      log_alpha: T;
    };
    attributes: {
      /** time steps of each sample, at most T */
      input_lengths: readonly number[] | readonly bigint[];
      /** labels of each sample */
      target_lengths: readonly number[] | readonly bigint[];
      /** the class that stands for no label, below C; 0 unless given */
      blank?: number | bigint | undefined;
      /** whether samples of infinite loss have gradient 0, not NaN; false unless given */
      zero_infinity?: boolean | undefined;
    };
    outputs: 'grad';
  };
  /**
   * The input, with values near zero set to zero.
   *
   * out = 0 where |self| <= lambd, self elsewhere
   * lambd < 0 counts as 0 and is rounded to self's dtype first. A NaN self or lambd lets self pass.
   */
  Hardshrink: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** half the width of the dead zone; below 0 it counts as 0 */
      lambd: number | bigint | boolean;
    };
    outputs: 'out';
  };
  /**
   * Gradient of Hardshrink.
   *
   * grad_input = 0 where |self| <= lambd, grad_output elsewhere
   * lambd is rounded to the promoted dtype of the inputs first. A NaN self or lambd lets the gradient pass; an infinite gradient in the dead zone gives 0.
   * Unlike PyTorch, lambd < 0 counts as 0, and NaN is treated alike in every position of a tensor.
   */
  HardshrinkBackward: {
    inputs: {
      /** gradient of Hardshrink's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the input of Hardshrink; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** half the width of the dead zone; below 0 it counts as 0 */
      lambd: number | bigint | boolean;
    };
    outputs: 'grad_input';
  };
  /**
   * The logistic function of each element.
   *
   * out = 1 / (1 + exp(-self))
   * A NaN gives NaN; -inf gives 0, +inf 1.
   */
  Sigmoid: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Sigmoid, from its result.
   *
   * grad_input = (grad_output * (1 - output)) * output
   */
  SigmoidBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      output: T;
    };
    attributes: Record<never, never>;
    outputs: 'grad_input';
  };
  /**
   * The hyperbolic tangent of each element.
   *
   * out = tanh(self)
   */
  Tanh: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Tanh, from its result.
   *
   * grad_input = grad_output * (1 - output * output)
   */
  TanhBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      output: T;
    };
    attributes: Record<never, never>;
    outputs: 'grad_input';
  };
  /**
   * The sigmoid linear unit: each element times its sigmoid.
   *
   * out = self * sigmoid(self)
   * -inf gives NaN.
   */
  Silu: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Silu.
   *
   * s = sigmoid(self)
   * grad_input = grad_output * (s + self * s * (1 - s))
   * An infinite self gives NaN.
   */
  SiluBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'grad_input';
  };
  /**
   * Each element times the sigmoid of its multiple.
   *
   * out = self * sigmoid(beta * self)
   * beta is taken as float32.
   */
  Swish: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** factor of self inside the sigmoid; 1 unless given */
      beta?: number | bigint | boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of Swish.
   *
   * z = beta * self, s = sigmoid(z)
   * grad_input = grad_output * (s + z * s * (1 - s))
   * beta is taken as float32.
   */
  SwishBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** factor of self inside the sigmoid; 1 unless given */
      beta?: number | bigint | boolean | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * Each element times the hyperbolic tangent of its softplus.
   *
   * out = self * tanh(log(1 + exp(self)))
   * -inf gives NaN.
   */
  Mish: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Mish.
   *
   * t = tanh(log(1 + exp(self)))
   * grad_input = grad_output * (t + self * sigmoid(self) * (1 - t * t))
   * An infinite self gives NaN.
   */
  MishBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'grad_input';
  };
  /**
   * The Gaussian error linear unit.
   *
   * out = self * P(self), P the standard normal distribution function
   * -inf gives NaN.
   */
  Gelu: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Gelu.
   *
   * grad_input = grad_output * (P(self) + self * p(self)), P the standard normal distribution function and p its density
   * An infinite self gives NaN.
   */
  GeluBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'grad_input';
  };
  /**
   * The Gaussian error linear unit, exact or by tanh.
   *
   * With approximate none out = self * P(self), P the standard normal distribution function.
   * With approximate tanh out = self * (1 + tanh(sqrt(2 / pi) * (self + 0.044715 * self^3))) / 2.
   */
  GeluV2: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** how the distribution function is computed; 'none' unless given */
      approximate?: 'none' | 'tanh' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of GeluV2.
   *
   * grad_output times the derivative of what GeluV2 computes with the same approximate. An infinite self gives NaN.
   */
  GeluBackwardV2: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** how the distribution function is computed; 'none' unless given */
      approximate?: 'none' | 'tanh' | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * A piecewise linear sigmoid.
   *
   * out = min(max(self + 3, 0), 6) / 6
   */
  Hardsigmoid: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Hardsigmoid.
   *
   * out = grad_output / 6 where -3 < self < 3, 0 elsewhere
   * A NaN self gives 0.
   */
  HardsigmoidBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Each element times a piecewise linear sigmoid.
   *
   * out = self * min(max(self + 3, 0), 6) / 6
   * -inf gives NaN.
   */
  Hardswish: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Hardswish.
   *
   * out = 0 where self <= -3, grad_output where self >= 3, grad_output * (self / 3 + 1/2) between
   * A NaN self gives NaN in every position of a tensor.
   */
  HardswishBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Each element held to a range.
   *
   * out = min(max(self, clip_value_min), clip_value_max)
   * Where clip_value_min > clip_value_max the result is clip_value_max. Both are taken as float32.
   */
  Hardtanh: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** least value of the result; -1 unless given */
      clip_value_min?: number | bigint | boolean | undefined;
      /** largest value of the result; 1 unless given */
      clip_value_max?: number | bigint | boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of Hardtanh.
   *
   * out = 0 where self <= min or self >= max, grad_output elsewhere
   * A NaN self lets the gradient pass, in every position of a tensor. min and max are taken as float32.
   */
  HardtanhBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the forward's clip_value_min; -1 unless given */
      min?: number | bigint | boolean | undefined;
      /** the forward's clip_value_max; 1 unless given */
      max?: number | bigint | boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * The scaled exponential linear unit.
   *
   * out = scale * self where self > 0, scale * alpha * (exp(self) - 1) elsewhere
   * alpha = 1.6732632423543773, scale = 1.0507009873554805 (Klambauer et al., Self-Normalizing Neural Networks, 2017).
   */
  Selu: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Selu, from its result.
   *
   * grad_input = grad_output * scale where result > 0, grad_output * (result + scale * alpha) elsewhere
   * alpha and scale are those of Selu.
   */
  SeluBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      result: T;
    };
    attributes: Record<never, never>;
    outputs: 'grad_input';
  };
  /**
   * The exponential linear unit.
   *
   * out = scale * self where self > 0, scale * alpha * (exp(input_scale * self) - 1) elsewhere
   * alpha, scale and input_scale are taken as float32.
   */
  Elu: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** what the result tends to below 0, before scale; its negative; 1 unless given */
      alpha?: number | bigint | boolean | undefined;
      /** factor of the result; 1 unless given */
      scale?: number | bigint | boolean | undefined;
      /** factor of self in the exponential; 1 unless given */
      input_scale?: number | bigint | boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of Elu, from its input or from its result.
   *
   * With x = self_or_result: where x > 0 grad_input = grad_output * scale. Elsewhere grad_input = grad_output * scale * alpha * input_scale * exp(input_scale * x), or with is_result grad_output * input_scale * (x + scale * alpha).
   * alpha < 0 with is_result is an error. A NaN x gives NaN in every position of a tensor. alpha, scale and input_scale are taken as float32.
   */
  EluBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /**
       * the forward's input, or its result where is_result; any that broadcasts with the other input; float32, float16, bfloat16
       */
      self_or_result: T;
    };
    attributes: {
      /** what the result tends to below 0, before scale; its negative; 1 unless given */
      alpha?: number | bigint | boolean | undefined;
      /** factor of the result; 1 unless given */
      scale?: number | bigint | boolean | undefined;
      /** factor of self in the exponential; 1 unless given */
      input_scale?: number | bigint | boolean | undefined;
      /** whether self_or_result is the forward's result; false unless given */
      is_result?: boolean | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * The rectified linear unit with a slope below 0.
   *
   * out = self where self > 0, negative_slope * self elsewhere
   * negative_slope is taken as float32.
   */
  LeakyRelu: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** factor of what is not positive; 0.01 unless given */
      negative_slope?: number | bigint | boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of LeakyRelu.
   *
   * out = grad_output where self > 0, negative_slope * grad_output elsewhere
   * self may be the result of the forward, which has the same sign; a negative slope with self_is_result is an error. negative_slope is taken as float32.
   */
  LeakyReluBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** factor of what is not positive; 0.01 unless given */
      negative_slope?: number | bigint | boolean | undefined;
      /** whether self is the forward's result; false unless given */
      self_is_result?: boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * Elements above a threshold; a value in place of the others.
   *
   * out = value where self <= threshold, self elsewhere
   * A NaN passes. threshold and value are taken as float32.
   */
  Threshold: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** what an element must exceed to pass */
      threshold: number | bigint | boolean;
      /** result of an element that does not */
      value: number | bigint | boolean;
    };
    outputs: 'out';
  };
  /**
   * The rectified linear unit.
   *
   * out = 0 where self <= 0, self elsewhere
   * A NaN passes.
   */
  Relu: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Threshold and, with threshold 0, of Relu.
   *
   * out = 0 where self <= threshold, grad_output elsewhere
   * A NaN self lets the gradient pass. threshold is taken as float32. For Relu self may also be the result.
   */
  ThresholdBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** what an element must exceed to pass */
      threshold: number | bigint | boolean;
    };
    outputs: 'out';
  };
  /**
   * A smooth rectified linear unit.
   *
   * out = self where beta * self > threshold, log(1 + exp(beta * self)) / beta elsewhere
   * beta and threshold are taken as float32.
   */
  Softplus: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** steepness of the bend; 1 unless given */
      beta?: number | bigint | boolean | undefined;
      /** value of beta * self above which out = self; 20 unless given */
      threshold?: number | bigint | boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of Softplus.
   *
   * grad_input = grad_output where beta * self > threshold, grad_output * sigmoid(beta * self) elsewhere
   * beta and threshold are taken as float32.
   */
  SoftplusBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** steepness of the bend; 1 unless given */
      beta?: number | bigint | boolean | undefined;
      /** value of beta * self above which out = self; 20 unless given */
      threshold?: number | bigint | boolean | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * The input moved to zero, and zero near it.
   *
   * out = 0 where |self| <= lambd, self - lambd above, self + lambd below
   * lambd is taken as float32.
   */
  Softshrink: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** half the width of the dead zone, and how far the rest is moved to 0; 0.5 unless given */
      lambd?: number | bigint | boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of Softshrink.
   *
   * grad_input = 0 where |self| <= lambd, grad_output elsewhere
   * A NaN self lets the gradient pass, in every position of a tensor. lambd is taken as float32.
   */
  SoftshrinkBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** half the width of the dead zone, and how far the rest is moved to 0; 0.5 unless given */
      lambd?: number | bigint | boolean | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * The logarithm of the sigmoid of each element.
   *
   * out = log(sigmoid(self))
   */
  LogSigmoid: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * LogSigmoid, with what its gradient may reuse.
   *
   * out = log(sigmoid(self))
   * buffer = exp(-|self|)
   */
  LogSigmoidForward: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out' | 'buffer';
  };
  /**
   * Gradient of LogSigmoid.
   *
   * grad_input = grad_output * sigmoid(-self)
   * buffer is not read: self says all. It may be left out, or have no elements.
   */
  LogSigmoidBackward: {
    inputs: {
      /** gradient of the forward's result; any that broadcasts with the other input; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
      /** what LogSigmoidForward kept; not read; self's, or empty; float32, float16, bfloat16 */
      buffer?: T | undefined;
    };
    attributes: Record<never, never>;
    outputs: 'grad_input';
  };
  /**
   * The rectified linear unit with a slope below 0 that is learned.
   *
   * out = self where self > 0, weight * self elsewhere
   * Channels are the elements of dimension 1.
   */
  Prelu: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
      /**
       * factor of negative elements, one for all or one for each channel; () or (1), or (C) where self is (N, C, ...); float32, float16, bfloat16
       */
      weight: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradients of Prelu with respect to its input and its weight.
   *
   * grad_input = grad_output where self > 0, weight * grad_output elsewhere
   * grad_weight = sum of grad_output * self where self is not > 0, over all elements, or over those of each channel. Without elements it is 0.
   */
  PreluBackward: {
    inputs: {
      /** gradient of the forward's result; self's; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any; float32, float16, bfloat16 */
      self: T;
      /** the forward's weight; () or (1), or (C) where self is (N, C, ...); float32, float16, bfloat16 */
      weight: T;
    };
    attributes: Record<never, never>;
    outputs: 'grad_input' | 'grad_weight';
  };
  /**
   * The gated linear unit: one half of a tensor times the sigmoid of the other.
   *
   * a and b are the first and the second half of self along dim.
   * out = a * sigmoid(b)
   */
  Glu: {
    inputs: {
      /** the input; any of rank 1 or more, even along dim; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the dimension that is cut into halves; a negative one counts from the last; -1 unless given */
      dim?: number | bigint | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of Glu.
   *
   * a and b are the first and the second half of self along dim, s = sigmoid(b).
   * The first half of out is grad_out * s, the second grad_out * a * s * (1 - s).
   */
  GluBackward: {
    inputs: {
      /** gradient of the forward's result; that of a half; float32, float16, bfloat16 */
      grad_out: T;
      /** the forward's input; any of rank 1 or more, even along dim; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the dimension that is cut into halves; a negative one counts from the last; -1 unless given */
      dim?: number | bigint | undefined;
    };
    outputs: 'out';
  };
  /**
   * One half of a tensor times the Gaussian error linear unit of the other.
   *
   * a and b are the first and the second half of self along dim.
   * out_gelu = gelu(b), as GeluV2 computes it with the same approximate
   * out = a * gelu(b), of which out_gelu's rounding is no part
   */
  GeGlu: {
    inputs: {
      /** the input; any of rank 1 or more, even along dim; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the dimension that is cut into halves; a negative one counts from the last; -1 unless given */
      dim?: number | bigint | undefined;
      /** how gelu is computed; 'tanh' unless given */
      approximate?: 'none' | 'tanh' | undefined;
    };
    outputs: 'out' | 'out_gelu';
  };
  /**
   * Gradient of GeGlu.
   *
   * a and b are the first and the second half of self along dim.
   * The first half of grad_input is grad_output * gelu, gelu taken as given; the second is grad_output * a times the derivative of gelu at b.
   */
  GeGluBackward: {
    inputs: {
      /** gradient of the forward's result; that of a half; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; any of rank 1 or more, even along dim; float32, float16, bfloat16 */
      self: T;
      /** out_gelu of the forward; that of a half; float32, float16, bfloat16 */
      gelu: T;
    };
    attributes: {
      /** the dimension that is cut into halves; a negative one counts from the last; -1 unless given */
      dim?: number | bigint | undefined;
      /** how gelu is computed; 'tanh' unless given */
      approximate?: 'none' | 'tanh' | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * The sigmoid linear unit of one half of a tensor times the other half.
   *
   * a and b are the first and the second half of x along dim.
   * out = a * sigmoid(a) * b
   */
  SwiGlu: {
    inputs: {
      /** the input; any of rank 1 or more, even along dim; float32, float16, bfloat16 */
      x: T;
    };
    attributes: {
      /** the dimension that is cut into halves; a negative one counts from the last; -1 unless given */
      dim?: number | bigint | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of SwiGlu.
   *
   * a and b are the first and the second half of x along dim, s = sigmoid(a).
   * The first half of out is y_grad * b * (s + a * s * (1 - s)), the second y_grad * a * s.
   */
  SwiGluGrad: {
    inputs: {
      /** gradient of the forward's result; that of a half; float32, float16, bfloat16 */
      y_grad: T;
      /** the forward's input; any of rank 1 or more, even along dim; float32, float16, bfloat16 */
      x: T;
    };
    attributes: {
      /** the dimension that is cut into halves; a negative one counts from the last; -1 unless given */
      dim?: number | bigint | undefined;
    };
    outputs: 'out';
  };
  /**
   * Exponentials along a dimension, as shares of their sum.
   *
   * out = exp(self - m) / sum of exp(self - m) over dim, m the largest of self along dim. Where there is an infinity above, or only infinities below, the shares are NaN.
   */
  Softmax: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the dimension along which it works; a negative one counts from the last */
      dim: number | bigint;
    };
    outputs: 'out';
  };
  /**
   * Gradient of Softmax with respect to its input.
   *
   * out = output * (grad_output - sum of grad_output * output over dim)
   */
  SoftmaxBackward: {
    inputs: {
      /** gradient of the forward's result; any; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's result; grad_output's; float32, float16, bfloat16 */
      output: T;
    };
    attributes: {
      /** the dimension along which it works; a negative one counts from the last */
      dim: number | bigint;
    };
    outputs: 'out';
  };
  /**
   * Logarithm of Softmax.
   *
   * out = self - m - ln(sum of exp(self - m) over dim), m the largest of self along dim
   */
  LogSoftmax: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the dimension along which it works; a negative one counts from the last */
      dim: number | bigint;
    };
    outputs: 'out';
  };
  /**
   * Gradient of LogSoftmax with respect to its input.
   *
   * out = grad_output - exp(output) * sum of grad_output over dim
   */
  LogSoftmaxBackward: {
    inputs: {
      /** gradient of the forward's result; any; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's result; grad_output's; float32, float16, bfloat16 */
      output: T;
    };
    attributes: {
      /** the dimension along which it works; a negative one counts from the last */
      dim: number | bigint;
    };
    outputs: 'out';
  };
  /**
   * Normalizes each group of channels to mean 0 and variance 1, then scales and offsets each channel.
   *
   * out = (self - mean) * rstd * gamma + beta, rstd = 1 / sqrt(variance + eps)
   * mean and the biased variance are those of the C/group channels of a group, HxW elements each. self is read as (N, C, HxW) whatever its shape. A group without elements has mean 0 and rstd NaN.
   * The profiles atlas-a2 and atlas-a3 take at most 8000 channels a group.
   */
  GroupNorm: {
    inputs: {
      /** the input; any of N*C*HxW elements; float32, float16, bfloat16 */
      self: T;
      /** scale of each channel; 1 when not given; any of C elements; float32, float16, bfloat16 */
      gamma?: T | undefined;
      /** offset of each channel; 0 when not given; any of C elements; float32, float16, bfloat16 */
      beta?: T | undefined;
    };
    attributes: {
      /** extent of the batch */
      N: number | bigint;
      /** number of channels */
      C: number | bigint;
      /** elements of a channel */
      HxW: number | bigint;
      /** number of groups; divides C */
      group: number | bigint;
      /** added to the variance; 1e-05 unless given */
      eps?: number | undefined;
    };
    outputs: 'out' | 'mean' | 'rstd';
  };
  /**
   * Gradients of GroupNorm with respect to its input, gamma and beta.
   *
   * For each n and c: ds = sum(grad_out * input), db = sum(grad_out), over HxW.
   * For each n and group, with s = group / (C * HxW): DS = sum(gamma * ds), DB = sum(gamma * db), c1 = rstd * gamma, c2 = (DB * mean - DS) * rstd^3 * s, c3 = -c2 * mean - DB * rstd * s.
   * grad_input = c1 * grad_out + c2 * input + c3; grad_gamma = sum over n of (ds - db * mean) * rstd; grad_beta = sum over n of db.
   * mean and rstd are taken as given. An output that output_mask leaves out is empty and not computed. With N = 0 or HxW = 0 the gradients of gamma and beta are zeros.
   * The profiles atlas-a2 and atlas-a3 take at most 8000 channels a group.
   */
  GroupNormBackward: {
    inputs: {
      /** gradient of GroupNorm's out; any of N*C*HxW elements; float32, float16, bfloat16 */
      grad_out: T;
      /** the input of GroupNorm; any of N*C*HxW elements; float32, float16, bfloat16 */
      input: T;
      /** mean of each group; any of N*group elements; float32, float16, bfloat16 */
      mean: T;
      /** 1 / sqrt(variance + eps) of each group; any of N*group elements; float32, float16, bfloat16 */
      rstd: T;
      /** scale of each channel; 1 when not given; any of C elements; float32, float16, bfloat16 */
      gamma?: T | undefined;
    };
    attributes: {
      /** extent of the batch */
      N: number | bigint;
      /** number of channels */
      C: number | bigint;
      /** elements of a channel */
      HxW: number | bigint;
      /** number of groups; divides C */
      group: number | bigint;
      /** which of grad_input, grad_gamma and grad_beta to compute; [true, true, true] unless given */
      output_mask?: readonly boolean[] | undefined;
    };
    outputs: 'grad_input' | 'grad_gamma' | 'grad_beta';
  };
  /**
   * Normalizes the last dimensions to mean 0 and variance 1, then scales and offsets each element.
   *
   * out = (input - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)
   * mean and the biased variance are those of the elements that have all but the last dimensions, normalized_shape, in common. Where normalized_shape has no elements mean is 0 and rstd NaN.
   * weight and bias have the dtype of input, or both float32. mean and rstd have that of weight and bias, or of input where neither is given; that of input and float32 may be asked for.
   */
  LayerNorm: {
    inputs: {
      /** the input; (..., normalized_shape); float32, float16, bfloat16 */
      input: T;
      /** scale of each normalized element; 1 when not given; normalized_shape; float32, float16, bfloat16 */
      weight?: T | undefined;
      /** offset of each normalized element; 0 when not given; normalized_shape; float32, float16, bfloat16 */
      bias?: T | undefined;
    };
    attributes: {
      /** the last dimensions of input, which are normalized together; at least one */
      normalized_shape: readonly number[] | readonly bigint[];
      /** added to the variance; 1e-05 unless given */
      eps?: number | undefined;
    };
    outputs: 'out' | 'mean' | 'rstd';
  };
  /**
   * Gradients of LayerNorm with respect to its input, weight and bias.
   *
   * With x = (input - mean) * rstd, g = grad_out * weight, and means over the elements that were normalized together:
   * grad_input = (g - mean(g) - x * mean(g * x)) * rstd; grad_weight = sum(grad_out * x) and grad_bias = sum(grad_out) over all but the last dimensions.
   * mean and rstd are taken as given, in the dtype of input or float32. grad_weight and grad_bias have the dtype of weight and bias, or of input where neither is given. An output that output_mask leaves out is empty and not computed. Without a weight PyTorch has no grad_weight and grad_bias; here they are those of a weight of ones.
   */
  LayerNormBackward: {
    inputs: {
      /** gradient of LayerNorm's out; input's; float32, float16, bfloat16 */
      grad_out: T;
      /** the input of LayerNorm; (..., normalized_shape); float32, float16, bfloat16 */
      input: T;
      /** mean of each group of elements; any of one element for each group; float32, float16, bfloat16 */
      mean: T;
      /** 1 / sqrt(variance + eps) of each; any of one element for each group; float32, float16, bfloat16 */
      rstd: T;
      /** scale of each normalized element; 1 when not given; normalized_shape; float32, float16, bfloat16 */
      weight?: T | undefined;
      /** the bias of LayerNorm; not read; normalized_shape; float32, float16, bfloat16 */
      bias?: T | undefined;
    };
    attributes: {
      /** the last dimensions of input, which are normalized together; at least one */
      normalized_shape: readonly number[] | readonly bigint[];
      /** which of grad_input, grad_weight and grad_bias to compute; [true, true, true] unless given */
      output_mask?: readonly boolean[] | undefined;
    };
    outputs: 'grad_input' | 'grad_weight' | 'grad_bias';
  };
  /**
   * Divides the last dimensions by their root mean square, then scales each element.
   *
   * y = x * rstd * gamma, rstd = 1 / sqrt(mean(x^2) + epsilon)
   * The mean is that of the elements that have all but the last dimensions, gamma's, in common.
   * gamma has the dtype of x, or float32; rstd is float32.
   */
  RmsNorm: {
    inputs: {
      /** the input; (..., gamma's); float32, float16, bfloat16 */
      x: T;
      /**
       * scale of each normalized element; its shape is that of what is normalized together; x's last dimensions, at least one; float32, float16, bfloat16
       */
      gamma: T;
    };
    attributes: {
      /** added to the mean of the squares; 1e-06 unless given */
      epsilon?: number | undefined;
    };
    outputs: 'y' | 'rstd';
  };
  /**
   * Gradients of RmsNorm with respect to x and gamma.
   *
   * With means over the elements that were normalized together:
   * dx = (dy * gamma - x * rstd * mean(dy * gamma * x * rstd)) * rstd; dgamma = sum(dy * x * rstd) over all but the last dimensions.
   * rstd is taken as given. gamma has the dtype of x, or float32; rstd and dgamma are float32.
   */
  RmsNormGrad: {
    inputs: {
      /** gradient of RmsNorm's y; x's; float32, float16, bfloat16 */
      dy: T;
      /** the input of RmsNorm; (..., gamma's); float32, float16, bfloat16 */
      x: T;
      /**
       * 1 / sqrt(mean of the squares + epsilon) of each group of elements; any of one element for each group; float32
       */
      rstd: T;
      /**
       * scale of each normalized element; its shape is that of what is normalized together; x's last dimensions, at least one; float32, float16, bfloat16
       */
      gamma: T;
    };
    attributes: Record<never, never>;
    outputs: 'dx' | 'dgamma';
  };
  /**
   * Normalizes each channel to mean 0 and variance 1, over the batch or with running statistics, then scales and offsets it.
   *
   * output = (input - mean) * invstd * weight + bias, invstd = 1 / sqrt(variance + eps)
   * In training mean and the biased variance are those of the channel, dimension 1 of input, over all other dimensions; else they are running_mean and running_var. save_mean and save_invstd are the mean and invstd that were used. A channel without elements has mean 0 and invstd NaN.
   * running_mean and running_var are not changed. In training, where they are given, running_mean_out = (1 - momentum) * running_mean + momentum * mean, and running_var_out likewise with the unbiased variance, which is NaN for a single element; without elements both stay as they were. Else they are empty. The C function has no such outputs: it changes running_mean and running_var themselves.
   */
  BatchNorm: {
    inputs: {
      /** the input; (N, C, ...), of rank 2 to 8; float32, float16, bfloat16 */
      input: T;
      /** scale of each channel; 1 when not given; (C); float32, float16, bfloat16 */
      weight?: T | undefined;
      /** offset of each channel; 0 when not given; (C); float32, float16, bfloat16 */
      bias?: T | undefined;
      /** mean of each channel over earlier calls; needed unless training; (C); float32, float16, bfloat16 */
      running_mean?: T | undefined;
      /** variance of each channel over earlier calls; needed unless training; (C); float32, float16, bfloat16 */
      running_var?: T | undefined;
    };
    attributes: {
      /** whether to normalize with the statistics of input, else with the running ones */
      training: boolean;
      /** how much of the running statistics this call's become; 0.1 unless given */
      momentum?: number | undefined;
      /** added to the variance; 1e-05 unless given */
      eps?: number | undefined;
    };
    outputs: 'output' | 'save_mean' | 'save_invstd' | 'running_mean_out' | 'running_var_out';
  };
  /**
   * Gradients of BatchNorm with respect to its input, weight and bias.
   *
   * In training, with x = (input - save_mean) * save_invstd and means over all dimensions but the channels':
   * grad_input = (grad_out - mean(grad_out) - x * mean(grad_out * x)) * save_invstd * weight; grad_weight = sum(grad_out * x), grad_bias = sum(grad_out).
   * Else, with invstd = 1 / sqrt(running_var + eps): grad_input = grad_out * invstd * weight; grad_weight = sum(grad_out * (input - running_mean) * invstd), grad_bias = sum(grad_out).
   * The statistics are taken as given. An output that output_mask leaves out is empty and not computed.
   */
  BatchNormBackward: {
    inputs: {
      /** gradient of BatchNorm's output; input's; float32, float16, bfloat16 */
      grad_out: T;
      /** the input of BatchNorm; (N, C, ...), of rank 2 to 8; float32, float16, bfloat16 */
      input: T;
      /** scale of each channel; 1 when not given; (C); float32, float16, bfloat16 */
      weight?: T | undefined;
      /** the running_mean of BatchNorm; needed, and read, unless training; (C); float32, float16, bfloat16 */
      running_mean?: T | undefined;
      /** the running_var of BatchNorm; needed, and read, unless training; (C); float32, float16, bfloat16 */
      running_var?: T | undefined;
      /**
       * mean of each channel; needed, and read, in training; (C); unless training also empty; float32, float16, bfloat16
       */
      save_mean?: T | undefined;
      /**
       * 1 / sqrt(variance + eps) of each channel; needed, and read, in training; (C); unless training also empty; float32, float16, bfloat16
       */
      save_invstd?: T | undefined;
    };
    attributes: {
      /** whether to normalize with the statistics of input, else with the running ones */
      training: boolean;
      /** added to the variance; 1e-05 unless given */
      eps?: number | undefined;
      /** which of grad_input, grad_weight and grad_bias to compute; [true, true, true] unless given */
      output_mask?: readonly boolean[] | undefined;
    };
    outputs: 'grad_input' | 'grad_weight' | 'grad_bias';
  };
  /**
   * The product of two matrices, of a matrix and a vector, or of each of two batches.
   *
   * out[..., m, n] = sum over k of self[..., m, k] * mat2[..., k, n]
   * A self of rank 1 is a row, a mat2 of rank 1 a column; the dimension of 1 that this adds is not in the result. Dimensions before the last two are a batch and broadcast. Without any k the product is zeros. Sums are made in float32, in an order that follows from the shapes, and rounded once to out's dtype.
   * With the last two dimensions transposed by their strides, which takes no copy, the gradients are products, too: that of self is the incoming gradient times mat2 transposed, that of mat2 is self transposed times the incoming gradient, each summed over the batch dimensions along which its input was broadcast.
   * cube_math_type has no effect on the CPU.
   */
  Matmul: {
    inputs: {
      /** the first factor; (K), (M, K) or (..., M, K); float32, float16, bfloat16 */
      self: T;
      /** the second factor; (K), (K, N) or (..., K, N); float32, float16, bfloat16 */
      mat2: T;
    };
    attributes: {
      /** precision of the products on an NPU; on the CPU it has no effect; 'keep_dtype' unless given */
      cube_math_type?: 'keep_dtype' | 'allow_fp32_down_precision' | 'use_fp16' | 'use_hf32' | undefined;
    };
    outputs: 'out';
  };
  /**
   * The products of two batches of matrices.
   *
   * out[b, m, n] = sum over k of self[b, m, k] * mat2[b, k, n]
   * Both inputs have rank 3 and as many matrices. Sums and gradients are as Matmul's.
   * cube_math_type has no effect on the CPU.
   */
  BatchMatMul: {
    inputs: {
      /** the first factors; (B, M, K); float32, float16, bfloat16 */
      self: T;
      /** the second factors; (B, K, N); float32, float16, bfloat16 */
      mat2: T;
    };
    attributes: {
      /** precision of the products on an NPU; on the CPU it has no effect; 'keep_dtype' unless given */
      cube_math_type?: 'keep_dtype' | 'allow_fp32_down_precision' | 'use_fp16' | 'use_hf32' | undefined;
    };
    outputs: 'out';
  };
  /**
   * A matrix plus the product of two others.
   *
   * out = beta * self + alpha * (mat1 times mat2)
   * self broadcasts to the shape of the product. With beta = 0 self is not read, whatever numbers it holds. beta and alpha are taken as float32; the sum is rounded once to out's dtype.
   * The gradient of self is beta times the incoming one, summed over the dimensions along which it was broadcast; those of mat1 and mat2 are alpha times Matmul's.
   * cube_math_type has no effect on the CPU.
   */
  Addmm: {
    inputs: {
      /** what is added; any that broadcasts to (M, N); float32, float16, bfloat16 */
      self: T;
      /** the first factor; (M, K); float32, float16, bfloat16 */
      mat1: T;
      /** the second factor; (K, N); float32, float16, bfloat16 */
      mat2: T;
    };
    attributes: {
      /** factor of self; 1 unless given */
      beta?: number | bigint | boolean | undefined;
      /** factor of the product; 1 unless given */
      alpha?: number | bigint | boolean | undefined;
      /** precision of the products on an NPU; on the CPU it has no effect; 'keep_dtype' unless given */
      cube_math_type?: 'keep_dtype' | 'allow_fp32_down_precision' | 'use_fp16' | 'use_hf32' | undefined;
    };
    outputs: 'out';
  };
  /**
   * The convolution of a batch with kernels, or the transposed one, in 1 to 3 dimensions.
   *
   * out[n, o, p] = bias[o] + sum over c and k of weight[o, c, k] * input[n, c, p * stride - padding + k * dilation], c over the channels of o's group; outside of the input there are zeros.
   * An extent of out is (extent + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1, rounded down.
   * transposed is its gradient with respect to the input, applied to input: weight is (C, Cout/groups, ...), an extent of out is (extent - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1, and output_padding is less than the stride or the dilation. Elsewhere output_padding has no effect.
   * A list of one entry stands for all dimensions. Sums are made in float32, in an order that follows from the shapes, and rounded once to out's dtype. A kernel's element that is infinite or NaN makes NaN also of zeros of the padding. An input without the batch's dimension is not taken.
   * cube_math_type has no effect on the CPU.
   */
  Convolution: {
    inputs: {
      /** the input; (N, C, ...), of 1 to 3 dimensions after the channels; float32, float16, bfloat16 */
      input: T;
      /** the kernels; (Cout, C/groups, ...); transposed (C, Cout/groups, ...); float32, float16, bfloat16 */
      weight: T;
      /** added to each channel of the result; (Cout); float32, float16, bfloat16 */
      bias?: T | undefined;
    };
    attributes: {
      /** distance of the kernel's places */
      stride: readonly number[] | readonly bigint[];
      /** zeros at either end of the input */
      padding: readonly number[] | readonly bigint[];
      /** distance of the kernel's elements */
      dilation: readonly number[] | readonly bigint[];
      /** whether it is the transposed convolution; false unless given */
      transposed?: boolean | undefined;
      /** added to the extents of a transposed convolution's result */
      output_padding: readonly number[] | readonly bigint[];
      /** into how many the channels are divided; 1 unless given */
      groups?: number | bigint | undefined;
      /** precision of the products on an NPU; on the CPU it has no effect; 'keep_dtype' unless given */
      cube_math_type?: 'keep_dtype' | 'allow_fp32_down_precision' | 'use_fp16' | 'use_hf32' | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradients of Convolution with respect to its input, weight and bias.
   *
   * grad_input[n, c, x] = sum over o, p and k with p * stride - padding + k * dilation = x of weight[o, c, k] * grad_output[n, o, p]
   * grad_weight[o, c, k] = sum over n and p of grad_output[n, o, p] * input[n, c, p * stride - padding + k * dilation]
   * grad_bias[o] = sum over n and p of grad_output[n, o, p]
   * The other attributes are those of the forward; with transposed the roles of input and grad_output are exchanged in the first two. Sums are made in float32, in an order that follows from the shapes, and rounded once to the output's dtype.
   * An output that output_mask leaves out is empty and not computed.
   * cube_math_type has no effect on the CPU.
   */
  ConvolutionBackward: {
    inputs: {
      /** gradient of Convolution's out; (N, Cout, ...); float32, float16, bfloat16 */
      grad_output: T;
      /** the input of Convolution; (N, C, ...), of 1 to 3 dimensions after the channels; float32, float16, bfloat16 */
      input: T;
      /** the kernels; (Cout, C/groups, ...); transposed (C, Cout/groups, ...); float32, float16, bfloat16 */
      weight: T;
    };
    attributes: {
      /** shape of the bias, (Cout); an empty list stands for it, too; [] unless given */
      bias_sizes?: readonly number[] | readonly bigint[] | undefined;
      /** distance of the kernel's places */
      stride: readonly number[] | readonly bigint[];
      /** zeros at either end of the input */
      padding: readonly number[] | readonly bigint[];
      /** distance of the kernel's elements */
      dilation: readonly number[] | readonly bigint[];
      /** whether it is the transposed convolution; false unless given */
      transposed?: boolean | undefined;
      /** added to the extents of a transposed convolution's result */
      output_padding: readonly number[] | readonly bigint[];
      /** into how many the channels are divided; 1 unless given */
      groups?: number | bigint | undefined;
      /** which of grad_input, grad_weight and grad_bias to compute; [true, true, true] unless given */
      output_mask?: readonly boolean[] | undefined;
      /** precision of the products on an NPU; on the CPU it has no effect; 'keep_dtype' unless given */
      cube_math_type?: 'keep_dtype' | 'allow_fp32_down_precision' | 'use_fp16' | 'use_hf32' | undefined;
    };
    outputs: 'grad_input' | 'grad_weight' | 'grad_bias';
  };
  /**
   * The largest element of each window of a plane, and its place.
   *
   * out[h][w] = largest of the elements (h * stride[0] - padding[0] + i * dilation[0], w * stride[1] - padding[1] + j * dilation[1]) that lie in the plane, 0 <= i < kernel_size[0], 0 <= j < kernel_size[1]; indices its place, row * W + column. Of equal ones the first counts, but of NaNs, each of which is larger than any number, the last. A window without an element, which dilation makes possible, gives -inf and the place -1.
   * H_out = floor((H + 2 * padding[0] - dilation[0] * (kernel_size[0] - 1) - 1) / stride[0]) + 1, with ceil_mode rounded up, but without a window that begins behind the plane. W_out likewise.
   * indices are int32, as aclnn has them, or int64, as PyTorch has them, where that is asked for; planes of 2^31 elements and more take int64. The profiles atlas-a2 and atlas-a3 have int32 and no dilation.
   */
  MaxPool2dWithIndices: {
    inputs: {
      /** the input; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** height and width of the windows, or one for both */
      kernel_size: readonly number[] | readonly bigint[];
      /** from one window to the next, likewise; those of kernel_size when empty */
      stride: readonly number[] | readonly bigint[];
      /** rows and columns around each plane, likewise; at most half of kernel_size */
      padding: readonly number[] | readonly bigint[];
      /** from one element of a window to the next, likewise */
      dilation: readonly number[] | readonly bigint[];
      /** whether a last window may jut out, if it begins in the plane or the padding before; false unless given */
      ceil_mode?: boolean | undefined;
    };
    outputs: 'out' | 'indices';
  };
  /**
   * Gradient of MaxPool2dWithIndices.
   *
   * grad_input = for each element the sum of the grad_output of its plane whose index it is, in their order, in float32. Of self only the shape counts.
   * An index is that of an element of the plane, whether or not the window has it, or -1: its gradient then goes nowhere. Any other is an error of phase two. The profiles atlas-a2 and atlas-a3 take int32 and no dilation.
   */
  MaxPool2dWithIndicesBackward: {
    inputs: {
      /** gradient of the forward's result; the forward's result's; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; not read; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
      /** the forward's; grad_output's; int32, int64 */
      indices: T;
    };
    attributes: {
      /** height and width of the windows, or one for both */
      kernel_size: readonly number[] | readonly bigint[];
      /** from one window to the next, likewise; those of kernel_size when empty */
      stride: readonly number[] | readonly bigint[];
      /** rows and columns around each plane, likewise; at most half of kernel_size */
      padding: readonly number[] | readonly bigint[];
      /** from one element of a window to the next, likewise */
      dilation: readonly number[] | readonly bigint[];
      /** whether a last window may jut out, if it begins in the plane or the padding before; false unless given */
      ceil_mode?: boolean | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * The mean of each window of a plane.
   *
   * out[h][w] = sum of the window that begins at (h * stride[0] - padding[0], w * stride[1] - padding[1]) / divisor, padding counting as zeros. The divisor is divisor_override where that is not 0 (PyTorch has None for it); else the number of the window's elements in the plane and, with count_include_pad, in its padding.
   * H_out = floor((H + 2 * padding[0] - kernel_size[0]) / stride[0]) + 1, with ceil_mode rounded up, but without a window that begins behind the plane. W_out likewise. Sums are float64.
   */
  AvgPool2d: {
    inputs: {
      /** the input; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** height and width of the windows, or one for both */
      kernel_size: readonly number[] | readonly bigint[];
      /** from one window to the next, likewise; those of kernel_size when empty */
      stride: readonly number[] | readonly bigint[];
      /** rows and columns around each plane, likewise; at most half of kernel_size */
      padding: readonly number[] | readonly bigint[];
      /** whether a last window may jut out, if it begins in the plane or the padding before; false unless given */
      ceil_mode?: boolean | undefined;
      /** whether a mean is over the padding in its window, too; true unless given */
      count_include_pad?: boolean | undefined;
      /** what sums are divided by; 0: by the number of their terms; 0 unless given */
      divisor_override?: number | bigint | undefined;
      /** how an NPU's matrix unit may compute; of no effect on the CPU; 0 unless given */
      cube_math_type?: number | bigint | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of AvgPool2d.
   *
   * grad_input = for each element the sum of grad_output / divisor over the windows that it is in, in the order of the windows. The divisors are AvgPool2d's. Of self only the shape counts. Sums are float64.
   */
  AvgPool2dBackward: {
    inputs: {
      /** gradient of the forward's result; the forward's result's; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; not read; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** height and width of the windows, or one for both */
      kernel_size: readonly number[] | readonly bigint[];
      /** from one window to the next, likewise; those of kernel_size when empty */
      stride: readonly number[] | readonly bigint[];
      /** rows and columns around each plane, likewise; at most half of kernel_size */
      padding: readonly number[] | readonly bigint[];
      /** whether a last window may jut out, if it begins in the plane or the padding before; false unless given */
      ceil_mode?: boolean | undefined;
      /** whether a mean is over the padding in its window, too; true unless given */
      count_include_pad?: boolean | undefined;
      /** what sums are divided by; 0: by the number of their terms; 0 unless given */
      divisor_override?: number | bigint | undefined;
      /** how an NPU's matrix unit may compute; of no effect on the CPU; 0 unless given */
      cube_math_type?: number | bigint | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * The means of the windows that share a plane out among an output of any size.
   *
   * out[h][w] = mean of the elements with rows from floor(h * H / H_out) to before ceil((h + 1) * H / H_out) and columns likewise. Sums are float64.
   */
  AdaptiveAvgPool2d: {
    inputs: {
      /** the input; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** height and width of the result, or one for both */
      output_size: readonly number[] | readonly bigint[];
    };
    outputs: 'out';
  };
  /**
   * Gradient of AdaptiveAvgPool2d.
   *
   * out = for each element the sum of grad_output / (elements of the window) over the windows that it is in, in the order of the windows. Of self only the shape counts. A grad_output without elements gives zeros, where PyTorch refuses it. Sums are float64.
   */
  AdaptiveAvgPool2dBackward: {
    inputs: {
      /** gradient of the forward's result; self's, but for H and W; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; not read; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Rows with their mirror image before and behind.
   *
   * out[w] = self[x], x = w - padding[0]; where x < 0 self[-x], where x >= W self[2 * (W - 1) - x].
   * padding is less than W on both sides.
   */
  ReflectionPad1d: {
    inputs: {
      /** the input; (C, W) or (N, C, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** elements before and behind each row; negative ones are left out of it */
      padding: readonly number[] | readonly bigint[];
    };
    outputs: 'out';
  };
  /**
   * Gradient of ReflectionPad1d.
   *
   * grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape counts. Sums are float64.
   */
  ReflectionPad1dBackward: {
    inputs: {
      /** gradient of the forward's result; the forward's result's; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; not read; (C, W) or (N, C, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** elements before and behind each row; negative ones are left out of it */
      padding: readonly number[] | readonly bigint[];
    };
    outputs: 'grad_input';
  };
  /**
   * Planes with their mirror images around them.
   *
   * out[h][w] = self[y][x], x = w - padding[0] and y = h - padding[2]; where x < 0 at -x, where x >= W at 2 * (W - 1) - x, and y likewise.
   * padding is less than W left and right and less than H above and below.
   */
  ReflectionPad2d: {
    inputs: {
      /** the input; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** columns left and right, rows above and below of each plane; negative ones are left out of it */
      padding: readonly number[] | readonly bigint[];
    };
    outputs: 'out';
  };
  /**
   * Gradient of ReflectionPad2d.
   *
   * grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape counts. Sums are float64.
   */
  ReflectionPad2dBackward: {
    inputs: {
      /** gradient of the forward's result; the forward's result's; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; not read; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** columns left and right, rows above and below of each plane; negative ones are left out of it */
      padding: readonly number[] | readonly bigint[];
    };
    outputs: 'grad_input';
  };
  /**
   * Rows with their first and last elements repeated before and behind.
   *
   * out[w] = self[min(max(w - padding[0], 0), W - 1)]
   */
  ReplicationPad1d: {
    inputs: {
      /** the input; (C, W) or (N, C, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** elements before and behind each row; negative ones are left out of it */
      padding: readonly number[] | readonly bigint[];
    };
    outputs: 'out';
  };
  /**
   * Gradient of ReplicationPad1d.
   *
   * grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape counts. Sums are float64.
   */
  ReplicationPad1dBackward: {
    inputs: {
      /** gradient of the forward's result; the forward's result's; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; not read; (C, W) or (N, C, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** elements before and behind each row; negative ones are left out of it */
      padding: readonly number[] | readonly bigint[];
    };
    outputs: 'grad_input';
  };
  /**
   * Planes with their borders repeated around them.
   *
   * out[h][w] = self[min(max(h - padding[2], 0), H - 1)][min(max(w - padding[0], 0), W - 1)]
   */
  ReplicationPad2d: {
    inputs: {
      /** the input; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** columns left and right, rows above and below of each plane; negative ones are left out of it */
      padding: readonly number[] | readonly bigint[];
    };
    outputs: 'out';
  };
  /**
   * Gradient of ReplicationPad2d.
   *
   * grad_input = for each element the sum of grad_output over the outputs that it is, in their order. Of self only the shape counts. Sums are float64.
   */
  ReplicationPad2dBackward: {
    inputs: {
      /** gradient of the forward's result; the forward's result's; float32, float16, bfloat16 */
      grad_output: T;
      /** the forward's input; not read; (C, H, W) or (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** columns left and right, rows above and below of each plane; negative ones are left out of it */
      padding: readonly number[] | readonly bigint[];
    };
    outputs: 'grad_input';
  };
  /**
   * Resamples planes: each output is the element nearest to it.
   *
   * out[h][w] = self[min(floor(h * H / H_out), H - 1)][min(floor(w * W / W_out), W - 1)], the ratio and its products taken in float32, as PyTorch has them.
   * Its gradient is UpsampleNearest2dBackward with self's shape as input_size.
   */
  UpsampleNearest2d: {
    inputs: {
      /** the input; (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** height and width of the result */
      output_size: readonly number[] | readonly bigint[];
    };
    outputs: 'out';
  };
  /**
   * Gradient of UpsampleNearest2d.
   *
   * grad_input = for each element the sum of grad_out over the outputs that it is, in their order. The places are UpsampleNearest2d's, but with 1 / scales_h and 1 / scales_w for the ratios where they are positive and the output's extent is neither that of the input nor twice that, as in PyTorch. Sums are float64.
   */
  UpsampleNearest2dBackward: {
    inputs: {
      /** gradient of the forward's result; (N, C, output_size[0], output_size[1]); float32, float16, bfloat16 */
      grad_out: T;
    };
    attributes: {
      /** height and width of the result */
      output_size: readonly number[] | readonly bigint[];
      /** shape of the forward's input: N, C, H, W */
      input_size: readonly number[] | readonly bigint[];
      /** factor of the height; where it is not positive, H_out / H stands for it; 0 unless given */
      scales_h?: number | undefined;
      /** factor of the width; where it is not positive, W_out / W stands for it; 0 unless given */
      scales_w?: number | undefined;
    };
    outputs: 'grad_input';
  };
  /**
   * Resamples planes: each output lies between two rows and two columns.
   *
   * out[h][w] = (1 - b) * ((1 - a) * self[y][x] + a * self[y][x + 1]) + b * ((1 - a) * self[y + 1][x] + a * self[y + 1][x + 1]), x + a being the place of w: with align_corners w * (W - 1) / (W_out - 1), else max((w + 0.5) * r - 0.5, 0), r = W / W_out, or 1 / scales_w where that is positive; y + b likewise.
   * There is nothing beyond the last row and column: a place there is theirs. An extent that stays as it is keeps its places. Computed in float64, where PyTorch has float32; an infinity at the border stays one, where PyTorch's 0 * inf makes NaN of it.
   * Its gradient is UpsampleBilinear2dBackward with self's shape as input_size.
   */
  UpsampleBilinear2d: {
    inputs: {
      /** the input; (N, C, H, W); float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** height and width of the result */
      output_size: readonly number[] | readonly bigint[];
      /** whether the centers of the corners, not their outer edges, lie on each other; false unless given */
      align_corners?: boolean | undefined;
      /** factor of the height; where it is not positive, H_out / H stands for it; 0 unless given */
      scales_h?: number | undefined;
      /** factor of the width; where it is not positive, W_out / W stands for it; 0 unless given */
      scales_w?: number | undefined;
    };
    outputs: 'out';
  };
  /**
   * Gradient of UpsampleBilinear2d.
   *
   * out = for each element the sum of grad_out times its part in the output, over all outputs that it is in, in their order. Places and parts are UpsampleBilinear2d's. Sums are float64.
   */
  UpsampleBilinear2dBackward: {
    inputs: {
      /** gradient of the forward's result; (N, C, output_size[0], output_size[1]); float32, float16, bfloat16 */
      grad_out: T;
    };
    attributes: {
      /** height and width of the result */
      output_size: readonly number[] | readonly bigint[];
      /** shape of the forward's input: N, C, H, W */
      input_size: readonly number[] | readonly bigint[];
      /** whether the centers of the corners, not their outer edges, lie on each other; false unless given */
      align_corners?: boolean | undefined;
      /** factor of the height; where it is not positive, H_out / H stands for it; 0 unless given */
      scales_h?: number | undefined;
      /** factor of the width; where it is not positive, W_out / W stands for it; 0 unless given */
      scales_w?: number | undefined;
    };
    outputs: 'out';
  };
  /**
   * A row of a matrix for each index.
   *
   * out[i, ..., :] = weight[indices[i, ...], :]
   * An index outside of [0, V) is an error.
   * EmbeddingDenseBackward computes the gradient of weight, with num_weights V.
   */
  Embedding: {
    inputs: {
      /** the rows to choose from; (V, D); float32, float16, bfloat16 */
      weight: T;
      /** the number of a row, in [0, V); any of rank 7 or less; int32, int64 */
      indices: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * Gradient of Embedding with respect to its weight.
   *
   * out[v, :] = sum of grad[i, ..., :] where indices[i, ...] = v, added in float64, or with scale_grad_by_freq their mean
   * Of padding_idx the row is 0. An index outside of [0, num_weights) is an error, also where PyTorch would not look at it.
   */
  EmbeddingDenseBackward: {
    inputs: {
      /** gradient of the forward's result; indices', then D; float32, float16, bfloat16 */
      grad: T;
      /** the forward's indices, in [0, num_weights); any of rank 7 or less; int32, int64 */
      indices: T;
    };
    attributes: {
      /** rows of the forward's weight */
      num_weights: number | bigint;
      /** an index whose row has no gradient; -1, in C its bits, stands for none; -1 unless given */
      padding_idx?: number | bigint | undefined;
      /** whether the gradient of a row is divided by how often its index comes; false unless given */
      scale_grad_by_freq?: boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * The sum of two tensors, the second times a scalar.
   *
   * out = self + alpha * other, rounded once
   * alpha is taken as float32.
   */
  Add: {
    inputs: {
      /** the first operand; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
      /** the second operand; any that broadcasts with the other input; float32, float16, bfloat16 */
      other: T;
    };
    attributes: {
      /** factor of other; 1 unless given */
      alpha?: number | bigint | boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * The difference of two tensors, the second times a scalar.
   *
   * out = self - alpha * other, rounded once
   * alpha is taken as float32.
   */
  Sub: {
    inputs: {
      /** the first operand; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
      /** the second operand; any that broadcasts with the other input; float32, float16, bfloat16 */
      other: T;
    };
    attributes: {
      /** factor of other; 1 unless given */
      alpha?: number | bigint | boolean | undefined;
    };
    outputs: 'out';
  };
  /**
   * The product of two tensors.
   *
   * out = self * other
   */
  Mul: {
    inputs: {
      /** the first operand; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
      /** the second operand; any that broadcasts with the other input; float32, float16, bfloat16 */
      other: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * The quotient of two tensors.
   *
   * out = self / other
   * Division by 0 gives an infinity, 0 / 0 gives NaN.
   */
  Div: {
    inputs: {
      /** the first operand; any that broadcasts with the other input; float32, float16, bfloat16 */
      self: T;
      /** the second operand; any that broadcasts with the other input; float32, float16, bfloat16 */
      other: T;
    };
    attributes: Record<never, never>;
    outputs: 'out';
  };
  /**
   * A tensor in another dtype.
   *
   * out = self, rounded to nearest, to even where two are as near
   * What is larger than all numbers of the dtype becomes an infinity. In C dtype is an aclDataType.
   */
  Cast: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the dtype of out */
      dtype: 'float32' | 'float16' | 'bfloat16';
    };
    outputs: 'out';
  };
  /**
   * A copy of a tensor with its dimensions in another order.
   *
   * Dimension i of out is dimension dims[i] of self.
   * Its gradient is Permute with the inverse order.
   */
  Permute: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the dimensions of self in the order of out's, each once; negative ones count from the last */
      dims: readonly number[] | readonly bigint[];
    };
    outputs: 'out';
  };
  /**
   * The sum of a tensor's elements over some of its dimensions.
   *
   * out = Σ self over dims
   * It adds in float32, sums of many terms in float64, and rounds once. The sum of no elements is 0. The gradient of what was broadcast is the sum over the dimensions that broadcasting made. In C dtype is an aclDataType.
   */
  ReduceSum: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the dimensions over which it goes, each once; negative ones count from the last; none: all */
      dims: readonly number[] | readonly bigint[];
      /** whether out keeps those dimensions, with extent 1; false unless given */
      keep_dims?: boolean | undefined;
      /** the dtype of out; 'self' unless given */
      dtype?: 'self' | 'float32' | 'float16' | 'bfloat16' | undefined;
    };
    outputs: 'out';
  };
  /**
   * The mean of a tensor's elements over some of its dimensions.
   *
   * out = Σ self / n over dim, n the elements of each sum
   * It adds as ReduceSum does. The mean of no elements is NaN. In C dtype is an aclDataType.
   */
  Mean: {
    inputs: {
      /** the input; any; float32, float16, bfloat16 */
      self: T;
    };
    attributes: {
      /** the dimensions over which it goes, each once; negative ones count from the last; none: all */
      dim: readonly number[] | readonly bigint[];
      /** whether out keeps those dimensions, with extent 1; false unless given */
      keep_dim?: boolean | undefined;
      /** the dtype of out; 'self' unless given */
      dtype?: 'self' | 'float32' | 'float16' | 'bfloat16' | undefined;
    };
    outputs: 'out';
  };
}
