/**
 * The three sizes of test, each a project with its own limits; unit tests are two, for some need a process of their own.
 * All of them resolve `#kernel`, `#contracts`, ... to the TypeScript sources (condition `source`), so no test of a library
 * needs a build; the end-to-end tests start the built gateway from `dist` as its own process.
 */
import { availableParallelism } from 'node:os';
import { defaultClientConditions, defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';

/** Without `module`, which is for bundlers: what stands under it need not load in Node, and some of it does not. */
const conditionsOf = (defaults: readonly string[]): string[] => [
  'source',
  ...defaults.filter((condition) => condition !== 'module'),
];
/** Unit tests that measure their process, or replace a module of it for all that it loads. */
const ALONE = '*.alone.spec.ts';
const ofUnits = (files: string): string[] => [`{libs,apps,scripts}/**/${files}`];
const never = ['**/node_modules/**', '**/dist/**', '**/.cache/**', '**/data/**'];

/** One process for many files loads the code once; what a file has left running ends with it all the same. */
const together = { isolate: false, setupFiles: ['test/integration/around-each-file.ts'] };

export default defineConfig({
  resolve: { conditions: conditionsOf(defaultClientConditions) },
  ssr: { resolve: { conditions: conditionsOf(defaultServerConditions) } },
  test: {
    environment: 'node',
    // What is waited for comes when it comes; the default of a second is too short for a busy machine.
    expect: { poll: { timeout: 5_000 } },
    // More than there are cores: the tests of processes and pages wait as long as they work.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ofUnits('*.spec.ts'),
          exclude: [...never, ...ofUnits(ALONE)],
          testTimeout: 30_000,
          // One process for many files loads the code once. A test that fails leaves no spy to those after it.
          isolate: false,
          restoreMocks: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit-alone',
          include: ofUnits(ALONE),
          exclude: never,
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          // After the others: these wait most of the time, and more of them can at once.
          sequence: { groupOrder: 1 },
          maxWorkers: availableParallelism() * 2,
          include: ['test/integration/**/*.spec.ts'],
          exclude: never,
          ...together,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.spec.ts'],
          exclude: never,
          ...together,
          expect: { poll: { timeout: 30_000 } },
          testTimeout: 240_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
