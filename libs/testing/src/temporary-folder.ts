import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder for the test that runs, or is about to; gone after its `afterEach`, which may still close what is in it. */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'observatory-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
