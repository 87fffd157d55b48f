/**
 * The limiter's operations as Lua, each atomic and one round trip. They hold the decision and nothing else: how long
 * to wait is computed from their reply, by the same functions that the limiter in memory uses.
 *
 * A counter is a hash: `s` start of its current bucket, `c` current, `p` previous. A calendar counter's key names its
 * bucket, so it has `c` alone. All numbers are whole and below 2^53, where Lua's doubles are exact; they are written
 * with `%.0f`, since Lua's own conversion keeps 14 digits. ARGV[1] is the time.
 */
import { CALENDAR_GRACE_MS } from '#domain/policy';
import { NOW } from './script-clock.js';

/** Arguments for each key: kind (0 sliding, 1 calendar), windowMs, startMs (calendar), and two of the operation's own. */
const ARGUMENTS_PER_KEY = 5;

const PRELUDE = `${NOW}
local counters = {}

-- The counter of KEYS[i], moved on to the bucket of now. Equal keys share one.
local function counterOf(i)
  local at = (i - 1) * ${ARGUMENTS_PER_KEY} + 1
  local known = counters[KEYS[i]]
  if known then return known, at end
  local isCalendar = ARGV[at + 1] == '1'
  local window = tonumber(ARGV[at + 2])
  local stored = redis.call('HMGET', KEYS[i], 's', 'c', 'p')
  local counter = {
    key = KEYS[i], isCalendar = isCalendar, window = window, isStored = stored[2] ~= false,
    start = tonumber(stored[1] or nil), c = tonumber(stored[2] or 0), p = tonumber(stored[3] or 0),
  }
  if isCalendar then
    counter.start = tonumber(ARGV[at + 3])
  else
    local start = now - now % window
    if not counter.start then
      counter.start = start
    elseif start > counter.start then
      if start == counter.start + window then counter.p = counter.c else counter.p = 0 end
      counter.c = 0
      counter.start = start
    elseif counter.start - start > window then
      -- The clock was ahead, and is not awaited.
      counter.p = 0
      counter.start = start
    end
  end
  counters[KEYS[i]] = counter
  return counter, at
end

local function used(counter)
  if counter.isCalendar or counter.p == 0 then return counter.c end
  local left = counter.start + counter.window - math.max(now, counter.start)
  local whole = math.floor(counter.p / counter.window)
  return counter.c + whole * left + math.ceil((counter.p - whole * counter.window) * left / counter.window)
end

local function whole(number) return string.format('%.0f', number) end

-- Every key expires: a sliding counter once both its buckets are past, a calendar one an hour after its end, for
-- corrections of calls that ran across it.
local function save(counter)
  if counter.isCalendar then
    redis.call('HSET', counter.key, 'c', whole(counter.c))
    redis.call('PEXPIRE', counter.key, whole(math.max(0, counter.start + counter.window - now) + ${CALENDAR_GRACE_MS}))
  else
    redis.call('HSET', counter.key, 's', whole(counter.start), 'c', whole(counter.c), 'p', whole(counter.p))
    redis.call('PEXPIRE', counter.key, whole(2 * counter.window))
  end
end

local function told(isAllowed, refused)
  local reply = { now, isAllowed }
  for i = 1, #KEYS do
    local counter = counterOf(i)
    local to = #reply
    reply[to + 1] = counter.start
    reply[to + 2] = counter.c
    reply[to + 3] = counter.p
    reply[to + 4] = refused[i] or 0
  end
  return reply
end
`;

/**
 * Own arguments: limit, amount. Behind those of the last key until when the reply is awaited, or empty; later nothing is taken, and
 * the reply is now alone. Else it is now, 1 or 0 for allowed, and for each key start, current, previous and whether it refused.
 */
export const TAKE = `${PRELUDE}
local deadline = tonumber(ARGV[#KEYS * ${ARGUMENTS_PER_KEY} + 2])
if deadline and now > deadline then return { now } end
local isAllowed = 1
local refused = {}
for i = 1, #KEYS do
  local counter, at = counterOf(i)
  local amount = tonumber(ARGV[at + 5])
  if used(counter) + amount > tonumber(ARGV[at + 4]) then
    refused[i] = 1
    isAllowed = 0
  else
    refused[i] = 0
    counter.c = counter.c + amount
  end
end
if isAllowed == 1 then
  for _, counter in pairs(counters) do save(counter) end
else
  for i = 1, #KEYS do
    local counter, at = counterOf(i)
    if refused[i] == 0 then counter.c = counter.c - tonumber(ARGV[at + 5]) end
  end
end
return told(isAllowed, refused)
`;

/** Own arguments: none that matter. Replies like TAKE, and writes nothing. */
export const LOOK = `${PRELUDE}
return told(1, {})
`;

const change = (apply: string): string => `${PRELUDE}
local function apply(before, amount) ${apply} end
for i = 1, #KEYS do
  local counter, at = counterOf(i)
  local taken = tonumber(ARGV[at + 4]) or now
  local amount = tonumber(ARGV[at + 5])
  local isOver = counter.isCalendar and counter.start + counter.window + ${CALENDAR_GRACE_MS} <= now
  if (counter.isStored or amount > 0) and not isOver then
    if counter.isCalendar or taken - taken % counter.window >= counter.start then
      counter.c = apply(counter.c, amount)
    elseif taken - taken % counter.window == counter.start - counter.window then
      counter.p = apply(counter.p, amount)
    end
    counter.isStored = true
    counter.isChanged = true
  end
end
for _, counter in pairs(counters) do
  if counter.isChanged then save(counter) end
end
return 1
`;

/** Own arguments: when it was taken (empty: now), amount. Adds, never below zero. */
export const CORRECT = change('return math.max(0, before + amount)');

/** The same, but raises to at least the amount. */
export const SEED = change('return math.max(before, amount)');
