/**
 * The words that gateways tell each other of control, in one stream: Redis puts them in order, and who was away goes on where it
 * left off. Read by asking, since a read that blocks would need a connection of its own.
 */
import type { Cluster, Redis } from 'ioredis';
import type { ControlLog, ControlLogPart } from '#contracts';
import { replyInTime } from './reply-in-time.js';

const KEY = 'observatory:control';
/** About so many commands a gateway may miss and still hear all of them. */
const ENTRY_COUNT_MAX = 10_000;
const REPLY_TIMEOUT_MS = 1_000;

/** A key of another type is somebody else's value, and gives way. */
const APPEND = `
if redis.call('TYPE', KEYS[1]).ok ~= 'stream' then redis.call('DEL', KEYS[1]) end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'text', ARGV[2])
return 1
`;

/** Ids are milliseconds and a number: a stream that ends before the cursor was begun anew. */
const READ = `
if redis.call('TYPE', KEYS[1]).ok ~= 'stream' then return { 0, {} } end
local function parts(id)
  local ms, number = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms) or 0, tonumber(number) or 0
end
local after = ARGV[1]
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not last then return { 0, {} } end
local last_ms, last_number = parts(last[1])
local after_ms, after_number = parts(after)
if last_ms == after_ms and last_number == after_number then return { 0, {} } end
if last_ms < after_ms or (last_ms == after_ms and last_number < after_number) then after = '0-0' end
local is_broken = ARGV[1] ~= '0-0' and #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0
local read = redis.call('XREAD', 'COUNT', ARGV[2], 'STREAMS', KEYS[1], after)
local entries = {}
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
for at, entry in ipairs(read and read[1][2] or {}) do
  entries[at] = { entry[1], entry[2][2], math.max(0, now_ms - parts(entry[1])) }
end
return { is_broken and 1 or 0, entries }
`;

interface LogCommands {
  observatoryAppendControl(keyCount: 1, key: string, countMax: number, text: string): Promise<number>;
  observatoryReadControl(
    keyCount: 1,
    key: string,
    after: string,
    countMax: number,
  ): Promise<[isBroken: 0 | 1, entries: [cursor: string, text: string, ageMs: number][]]>;
}

export class RedisControlLog implements ControlLog {
  readonly #commands: LogCommands;

  /** @param client of `connectRedis`, or a cluster's. It stays the caller's to close */
  constructor(client: Redis | Cluster) {
    client.defineCommand('observatoryAppendControl', { lua: APPEND });
    client.defineCommand('observatoryReadControl', { lua: READ });
    this.#commands = client as unknown as LogCommands;
  }

  async append(text: string): Promise<void> {
    await replyInTime(
      this.#commands.observatoryAppendControl(1, KEY, ENTRY_COUNT_MAX, text),
      REPLY_TIMEOUT_MS,
    );
  }

  async readAfter(cursor: string | null, countMax: number): Promise<ControlLogPart> {
    const [isBroken, entries] = await replyInTime(
      this.#commands.observatoryReadControl(1, KEY, cursor ?? '0-0', countMax),
      REPLY_TIMEOUT_MS,
    );
    return {
      isBroken: isBroken === 1,
      entries: entries.map(([cursor, text, ageMs]) => ({ cursor, text, ageMs })),
    };
  }
}
