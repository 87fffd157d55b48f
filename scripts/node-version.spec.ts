import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

/** Runs the script on what says that it is this Node. */
function runOn(version: string, script: string, ...args: string[]) {
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
  return spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${pretend}`, resolve(import.meta.dirname, script), ...args],
    { encoding: 'utf8' },
  );
}

it.each(['start.mjs', 'demo.mjs'])('%s says that Node is too old, and ends', (script) => {
  for (const version of ['18.20.4', '20.18.1']) {
    const { status, stderr } = runOn(version, script);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`needs Node 20.19 or newer, and this is ${version}. Install a newer one`),
    ]);
  }
});

it('goes on with a Node that will do', () => {
  for (const version of ['20.19.0', '24.0.0']) {
    const { status, stdout } = runOn(version, 'demo.mjs', '--help');
    expect([status, stdout]).toEqual([0, expect.stringContaining('simulated agents')]);
  }
});
