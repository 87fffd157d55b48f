import { Registry } from 'prom-client';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { ControlLogPart } from '#contracts';
import { deferred } from '#kernel';
import { FakeControlLog, OPERATOR } from './control-log.fixture.js';
import { shareControl } from './share-control.js';

const RESUMED = {
  ...OPERATOR,
  act: { kind: 'command', session_id: 's', command: { command: 'resume' }, directive_id: 'd' },
};

it('lets a desk hear what was said before it asked, also where a look is under way that has read already', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const log = new FakeControlLog();
  const heard: string[] = [];
  const desk = {
    tell: () => {},
    hear: async (_by: unknown, { kind }: { kind: string }) => void heard.push(kind),
    hearOthers: async () => {},
  };
  const shared = await shareControl({ get: () => new Registry() } as never, {
    proxy: { controlLog: { log, gatewayId: 'here', opened: Promise.resolve() }, commands: {} } as never,
    desk: desk as never,
    store: { settings: async () => new Map(), saveSettings: async () => {} } as never,
    logger: { info: () => {} } as never,
  });
  onTestFinished(() => shared?.stop());
  const late = deferred();
  const { readAfter } = log;
  log.readAfter = async (...asked): Promise<ControlLogPart> => {
    const read = await readAfter.apply(log, asked);
    await late.promise;
    return read;
  };
  const looking = shared?.look();
  await log.append(JSON.stringify({ from: 'there', id: 'there-1', ...RESUMED }));
  const hearing = desk.hearOthers();
  late.resolve();
  await Promise.all([looking, hearing]);
  expect(heard).toEqual(['command']);
});
