/** Imported into a gateway's process: at SIGUSR2 its wall clock goes 31 days ahead. */
const realNow = Date.now;
const MONTH_MS = 31 * 24 * 3_600_000;

process.on('SIGUSR2', () => {
  Date.now = () => realNow() + MONTH_MS;
});
