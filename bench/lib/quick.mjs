/** `BENCH_QUICK=1`: shorter and fewer windows, for a look while one changes something; not written to RESULTS.md. */
export const isQuick = process.env.BENCH_QUICK === '1';
