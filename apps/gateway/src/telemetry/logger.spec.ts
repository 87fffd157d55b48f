import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.js';
import { NestLogger } from './nest-logger.js';

const GENERATED = 'obs_agent_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const FIXED = 'fixed"canary\\4711';

function capture(options: { level?: 'trace' | null; isTerminal?: boolean } = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    level: options.level === undefined ? 'trace' : options.level,
    secrets: [FIXED],
    isTerminal: options.isTerminal ?? false,
    destination: { write: (line: string) => void lines.push(line) },
  });
  return { logger, lines, text: () => lines.join('') };
}

describe('the log', () => {
  it('never holds a secret, whichever way it comes', () => {
    const { logger, lines, text } = capture();
    const error = Object.assign(new Error(`upstream refused Bearer ${FIXED} and ${GENERATED}`), {
      config: { headers: { authorization: 'canary-in-error' } },
      cause: new Error(`because of ${GENERATED}`),
    });
    logger.info(
      { headers: { authorization: 'canary-a', Cookie: 'canary-b', accept: 'kept-accept' } },
      'headers',
    );
    logger.info({ a: { b: [{ c: { password: 'canary-c', 'set-cookie': ['canary-d'] } }] } }, 'deep');
    logger.info({ operatorToken: 'canary-e', api_key: 'canary-f', secret_hash: 'canary-g' }, 'names');
    logger.child({ token: 'canary-h', key: 'canary-i', headers: { cookie: 'canary-n' } }).info('child');
    logger.info(`the key is ${GENERATED}, the other ${FIXED}`);
    logger.info('Authorization: bearer canary-j and observatory_session=canary-k; Path=/');
    logger.error({ err: error }, 'failed');
    logger.error(error);
    logger.info(
      { req: { method: 'GET', url: '/login?token=canary-l', headers: { cookie: 'canary-m' } } },
      'request',
    );
    expect(lines).toHaveLength(9);
    expect(text()).not.toMatch(/canary/);
    expect(text()).not.toContain(GENERATED);
    expect(text()).toContain('kept-accept');
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('keeps what is no secret: ids of keys, counts of tokens, the path of a request', () => {
    const { logger, lines } = capture();
    const req = { method: 'GET', url: '/v1/sessions?q=secret+plan' };
    logger.warn({ key_id: 'key_1', token_id: 'op_1', tokens: 5, req, at: new Date(0) }, 'kept');
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      level: 'warn',
      key_id: 'key_1',
      token_id: 'op_1',
      tokens: 5,
      req: { method: 'GET', path: '/v1/sessions' },
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('gives a terminal no command that an agent has put into its version or its name', () => {
    const { logger, text } = capture();
    const capability_version = '1\u009b2J\u001b]0;\u007f\u202e\u2028é';
    logger.warn({ capability_version }, 'seen');
    expect(text()).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}]+\n$/u);
    expect(JSON.parse(text())).toMatchObject({ capability_version });
  });

  it('says only warnings on a terminal and everything of note elsewhere, unless told otherwise', () => {
    expect(capture({ level: null, isTerminal: true }).logger.level).toBe('warn');
    expect(capture({ level: null }).logger.level).toBe('info');
    expect(capture({ isTerminal: true }).logger.level).toBe('trace');
  });

  it('is quiet about what Nest says of its routes, and passes on its errors', () => {
    const { logger, lines } = capture({ level: null });
    const nest = new NestLogger(logger);
    nest.log('Mapped {/v1/config, GET} route', 'RouterExplorer');
    nest.error('boom', 'Error: boom\n  at x', 'ExceptionsHandler');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', msg: 'boom', context: 'ExceptionsHandler', stack: 'Error: boom\n  at x' },
    ]);
  });
});
