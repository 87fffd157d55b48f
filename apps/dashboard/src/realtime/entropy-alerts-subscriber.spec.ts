import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, it } from 'vitest';

const SOURCES = join(import.meta.dirname, '..');
/** The topic by name or from the contracts, or the component that subscribes to it. */
const USES = /['"]gateway:entropy_alerts['"]|\bentropyAlerts\b|<EntropyAlertsPanel\b/;

it('[FR-9.10-] nothing but the Session Cluster Manager subscribes to gateway:entropy_alerts', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !/\.spec\.tsx?$/.test(file),
  );
  const users = files.filter((file) => USES.test(readFileSync(join(SOURCES, file), 'utf8')));
  expect(users.map((file) => file.split(sep).join('/')).sort()).toEqual([
    'features/session-clusters/entropy-alerts-panel.tsx',
    'features/session-clusters/session-clusters-page.tsx',
    // How its events are folded, for whoever subscribes.
    'realtime/topic-merges.ts',
  ]);
});
