/**
 * The cache's operations as Lua, each atomic and one round trip. Those of a tenant take its six keys, in the order of
 * `TenantNames`. ARGV[1] is the time. Expiry of keys always runs on the clock of Redis.
 */
import { NOW } from '../script-clock.js';

const PRELUDE = `${NOW}local function whole(number) return string.format('%.0f', number) end
`;

const TENANT = `${PRELUDE}
local INDEX, META, HITS, USED, BYTES, EPOCH = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]

-- What is known of a key begins with its bytes.
local function forget(key)
  local meta = redis.call('HGET', META, key)
  if meta then
    redis.call('HDEL', META, key)
    redis.call('DECRBY', BYTES, string.match(meta, '^(%d+) ') or '0')
  end
  redis.call('ZREM', HITS, key)
  redis.call('ZREM', USED, key)
  return redis.call('ZREM', INDEX, key), meta
end

-- Entries expire by themselves; here only their names are left.
local function prune(countMax)
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', INDEX, '-inf', whole(now), 'LIMIT', 0, countMax)) do
    forget(key)
  end
end
`;

/** Expired names taken out with each new one. */
const PRUNED_PER_PUT = 100;
/** And when the whole is looked at. */
const PRUNED_PER_LOOK = 5_000;
/** Entries pushed out by one new one. */
const EVICTED_PER_PUT = 64;

/** Longer than any call. An epoch that is forgotten sooner only costs what was under way. */
const EPOCH_LIFETIME_MS = 86_400_000;

/**
 * Named after the time at which it begins, so that one that was forgotten does not come back under the same name; by the clock of
 * Redis always.
 */
const BEGIN_EPOCH = `
local function beginEpoch(former)
  local time = redis.call('TIME')
  local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local epoch = whole(math.max(micros, (tonumber(former) or 0) + 1))
  redis.call('SET', EPOCH, epoch, 'PX', ${EPOCH_LIFETIME_MS})
  return epoch
end
`;

/** ARGV now. Replies the tenant's epoch. */
export const EPOCH = `${TENANT}${BEGIN_EPOCH}
return redis.call('GET', EPOCH) or beginEpoch()
`;

/** ARGV now. */
export const END_EPOCH = `${TENANT}${BEGIN_EPOCH}
return beginEpoch(redis.call('GET', EPOCH))
`;

/** KEYS entry. Replies its value and how long it has to live, or false. */
export const READ = `
local value = redis.call('GET', KEYS[1])
if not value then return false end
return { value, redis.call('PTTL', KEYS[1]) }
`;

/**
 * ARGV now, key, ttl, meta, bytes, ttl of the index, most entries, most bytes, epoch in which the answer was asked for or an
 * empty string. Replies key and meta of those that had to leave, one after another, or false: the epoch is over.
 */
export const REGISTER = `${TENANT}
local key = ARGV[2]
if ARGV[9] ~= '' and ARGV[9] ~= redis.call('GET', EPOCH) then return false end
prune(${PRUNED_PER_PUT})
forget(key)
if redis.call('ZCARD', INDEX) == 0 then redis.call('DEL', META, HITS, USED, BYTES) end
redis.call('ZADD', INDEX, whole(now + tonumber(ARGV[3])), key)
redis.call('HSET', META, key, ARGV[4])
redis.call('ZADD', HITS, 0, key)
redis.call('ZADD', USED, whole(now), key)
redis.call('INCRBY', BYTES, ARGV[5])
local evicted = {}
local entriesMax, bytesMax = tonumber(ARGV[7]), tonumber(ARGV[8])
while #evicted < ${2 * EVICTED_PER_PUT} do
  local isFull = redis.call('ZCARD', INDEX) > entriesMax or tonumber(redis.call('GET', BYTES) or 0) > bytesMax
  -- The new one is the first of them where it came in the same millisecond, or the clock was set back.
  local first = isFull and redis.call('ZRANGE', USED, 0, 1) or {}
  local oldest = first[first[1] == key and 2 or 1]
  if not oldest then break end
  local _, meta = forget(oldest)
  evicted[#evicted + 1] = oldest
  evicted[#evicted + 1] = meta or ''
end
for index = 1, 5 do redis.call('PEXPIRE', KEYS[index], ARGV[6]) end
return evicted
`;

/** ARGV now, keys. Replies of each the epoch in which it was registered, or an empty string where the index does not know it. */
export const KNOWN = `${TENANT}
local reply = {}
for index = 2, #ARGV do
  local meta = redis.call('ZSCORE', INDEX, ARGV[index]) and redis.call('HGET', META, ARGV[index])
  reply[#reply + 1] = meta and string.match(meta, '^%d+ (%d+) ') or ''
end
return reply
`;

/** ARGV now, key. Counts a hit, unless the index has lost the key meanwhile. */
export const TOUCH = `${TENANT}
if not redis.call('ZSCORE', INDEX, ARGV[2]) then return end
redis.call('ZINCRBY', HITS, 1, ARGV[2])
redis.call('ZADD', USED, whole(now), ARGV[2])
`;

/** ARGV now, keys. Replies how many of them were there and alive. */
export const FORGET = `${TENANT}
local count = 0
for index = 2, #ARGV do
  local expires = redis.call('ZSCORE', INDEX, ARGV[index])
  if expires and tonumber(expires) > now then count = count + 1 end
  forget(ARGV[index])
end
return count
`;

/** ARGV now, cursor, count. Replies the next cursor, then key and meta of those alive, one after another. */
export const BROWSE = `${TENANT}
local page = redis.call('ZSCAN', INDEX, ARGV[2], 'COUNT', ARGV[3])
local reply = { page[1] }
for index = 1, #page[2], 2 do
  if tonumber(page[2][index + 1]) > now then
    reply[#reply + 1] = page[2][index]
    reply[#reply + 1] = redis.call('HGET', META, page[2][index]) or ''
  end
end
return reply
`;

/** ARGV now. Replies entries and bytes. */
export const STATS = `${TENANT}
prune(${PRUNED_PER_LOOK})
local count = redis.call('ZCOUNT', INDEX, '(' .. whole(now), '+inf')
return { count, count > 0 and math.max(0, tonumber(redis.call('GET', BYTES) or 0)) or 0 }
`;

/**
 * ARGV now, count, and of the entry behind which to begin its hits and key, or two empty strings. Replies key, meta, hits
 * and last use, one after another: most hits first, and of equals the greater key.
 */
export const LIST = `${TENANT}
prune(${PRUNED_PER_LOOK})
local count, hits, key = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local at = 0
if hits then
  at = redis.call('ZCOUNT', HITS, '(' .. whole(hits), '+inf')
  local isBehind = false
  while not isBehind do
    local page = redis.call('ZREVRANGE', HITS, at, at + 99, 'WITHSCORES')
    isBehind = #page == 0
    for index = 1, #page, 2 do
      if tonumber(page[index + 1]) < hits or page[index] < key then
        isBehind = true
        break
      end
      at = at + 1
    end
  end
end
local reply = {}
for index, one in ipairs(redis.call('ZREVRANGE', HITS, at, at + count - 1, 'WITHSCORES')) do
  if index % 2 == 1 then
    reply[#reply + 1] = one
    reply[#reply + 1] = redis.call('HGET', META, one) or ''
  else
    reply[#reply + 1] = one
    reply[#reply + 1] = redis.call('ZSCORE', USED, reply[#reply - 2]) or '0'
  end
end
return reply
`;

/** KEYS scope, vector. ARGV now, key, ttl, ttl of the scope, scope's tag, field, vector: the last two empty for none. */
export const PUT_VECTOR = `${PRELUDE}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now))
redis.call('DEL', KEYS[2])
if ARGV[6] == '' then
  redis.call('ZREM', KEYS[1], ARGV[2])
  return 0
end
redis.call('HSET', KEYS[2], 's', ARGV[5], ARGV[6], ARGV[7])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('ZADD', KEYS[1], whole(now + tonumber(ARGV[3])), ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`;

/**
 * KEYS scope. ARGV now, name of its vectors without the key, field, most vectors, most bytes. Replies key and vector, one
 * after another, newest first. The vectors' names are not in KEYS: they share the scope's hash tag.
 */
export const READ_VECTORS = `${PRELUDE}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now))
local reply, bytes, bytesMax = {}, 0, tonumber(ARGV[5])
for _, key in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, tonumber(ARGV[4]) - 1)) do
  local name = ARGV[2] .. key
  local kind = redis.call('TYPE', name).ok
  local vector = kind == 'hash' and redis.call('HGET', name, ARGV[3])
  if vector then
    bytes = bytes + #vector
    if bytes > bytesMax then break end
    reply[#reply + 1] = key
    reply[#reply + 1] = vector
  elseif kind ~= 'hash' then
    redis.call('DEL', name)
    redis.call('ZREM', KEYS[1], key)
  end
end
return reply
`;

/** KEYS scope, vector. ARGV now, key. */
export const DROP_VECTOR = `
redis.call('ZREM', KEYS[1], ARGV[2])
return redis.call('DEL', KEYS[2])
`;
