/** What a figure was measured on, and what a process costs, read from the system. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** @returns {string} one line */
export function describeMachine() {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GB`;
  return `${cpus().length} x ${first?.model.trim() ?? 'unknown CPU'}, ${memory}, ${type()} ${release()}, Node ${process.version}`;
}

/** @returns {number} processes that wanted a core over the last minute, per core: above 1 before a bench starts, its absolutes are low */
export const loadPerCore = () => (loadavg()[0] ?? 0) / Math.max(1, cpus().length);

/**
 * @param {number} pid
 * @returns {{ cpuSeconds: number, residentBytes: number }} all threads together; zeros for a process that is gone
 */
export function readUsage(pid) {
  return existsSync('/proc/self/stat') ? readProc(pid) : readPs(pid);
}

/** @param {number} pid */
function readProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Fields after the command, which may hold spaces and parentheses: utime and stime are the 12th and 13th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const ticksPerSecond = 100;
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
      residentBytes: Number(resident ?? 0) * 1024,
    };
  } catch {
    return { cpuSeconds: 0, residentBytes: 0 };
  }
}

/** @param {number} pid */
function readPs(pid) {
  try {
    const output = execFileSync('ps', ['-o', 'time=,rss=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [time = '0', resident = '0'] = output.split(/\s+/);
    const cpuSeconds = time.split(':').reduce((sum, part) => sum * 60 + Number.parseFloat(part), 0);
    return { cpuSeconds, residentBytes: Number(resident) * 1024 };
  } catch {
    return { cpuSeconds: 0, residentBytes: 0 };
  }
}
