const { FC_NUM_RUNS, FC_SEED, FC_PATH } = process.env;

/** Whether this run looks for what the suite's acts do not meet. */
export const isModelSearch = FC_NUM_RUNS !== undefined;

const SUITE_SEED = 1_764_400_000;

/**
 * fast-check's parameters for a model: in the suite the same acts every time, with FC_NUM_RUNS as many others as it says. FC_SEED and
 * FC_PATH repeat one that failed.
 */
export const modelRuns = (numRuns: number) => ({
  numRuns: Number(FC_NUM_RUNS ?? numRuns),
  seed: Number(FC_SEED ?? (isModelSearch ? Date.now() : SUITE_SEED)),
  ...(FC_PATH !== undefined && { path: FC_PATH }),
});
