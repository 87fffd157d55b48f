/**
 * The limiter's operations as Lua, each atomic and one round trip. They hold the decision and nothing else: how long
 * to wait is computed from their reply, by the same functions that the limiter in memory uses.
 *
 * A counter is a hash with a part for each gateway, `<start of its current bucket> <current> <previous>`, and says their sum. A
 * gateway writes its own part alone: what it seeds or gives back is its own, so that the sum is right again once each gateway has
 * said what it knows, whatever Redis has lost. A part that a correction made has a 0 before its start, until something is taken or
 * seeded: what there had been before may be lost. Gateways that do not know this sign read the same number. A calendar counter's key
 * names its bucket. All numbers are whole and below 2^53, where Lua's doubles are exact; they are written with `%.0f`, since Lua's own
 * conversion keeps 14 digits. ARGV[1] is the time, ARGV[2] the gateway.
 */
import { CALENDAR_GRACE_MS } from '#domain/policy';
import { NOW } from './script-clock.js';

/** Arguments for each key: kind (0 sliding, 1 calendar), windowMs, startMs (calendar), and two of the operation's own. */
const ARGUMENTS_PER_KEY = 5;
/** Numbers of a reply for each key: start, current, previous, whether it refused, and whether nothing had been taken by the gateway. */
export const NUMBERS_PER_KEY = 5;

const PRELUDE = `${NOW}
local gateway = ARGV[2]
local counters = {}

local function moveOn(part, start, window)
  if part.start == start then return end
  if part.start == start - window then part.p = part.c else part.p = 0 end
  -- Else its clock was ahead, and is not awaited.
  if part.start < start then part.c = 0 end
  part.start = start
end

-- The counter of KEYS[i], moved on to the bucket of now. Equal keys share one.
local function counterOf(i)
  local at = (i - 1) * ${ARGUMENTS_PER_KEY} + 2
  local known = counters[KEYS[i]]
  if known then return known, at end
  local isCalendar = ARGV[at + 1] == '1'
  local window = tonumber(ARGV[at + 2])
  local first = isCalendar and tonumber(ARGV[at + 3]) or now - now % window
  local counter = {
    key = KEYS[i], isCalendar = isCalendar, window = window, start = first,
    own = { c = 0, p = 0, isUntaken = true }, othersC = 0, othersP = 0, isStored = false, past = {},
  }
  local parts = {}
  local stored = redis.call('HGETALL', KEYS[i])
  for field = 1, #stored, 2 do
    local mark, start, c, p = string.match(stored[field + 1], '^(0?)(%d+) (%d+) (%d+)$')
    local part = { of = stored[field], start = tonumber(start), c = tonumber(c), p = tonumber(p), isUntaken = mark == '0' }
    parts[#parts + 1] = part
    if part.start - first <= window then counter.start = math.max(counter.start, part.start) end
  end
  for _, part in ipairs(parts) do
    moveOn(part, counter.start, window)
    if part.of == gateway then
      counter.own = part
      part.isUntaken = part.isUntaken or part.c + part.p == 0
      counter.isStored = true
    else
      counter.othersC = counter.othersC + part.c
      counter.othersP = counter.othersP + part.p
      if part.c + part.p == 0 then counter.past[#counter.past + 1] = part.of end
    end
  end
  counters[KEYS[i]] = counter
  return counter, at
end

local function used(counter)
  local c = counter.othersC + counter.own.c
  local p = counter.othersP + counter.own.p
  if counter.isCalendar or p == 0 then return c end
  local left = counter.start + counter.window - math.max(now, counter.start)
  local whole = math.floor(p / counter.window)
  return c + whole * left + math.ceil((p - whole * counter.window) * left / counter.window)
end

local function whole(number) return string.format('%.0f', number) end

-- Every key expires: a sliding counter once both its buckets are past, a calendar one an hour after its end, for
-- corrections of calls that ran across it, or after its last change: a gateway whose clock is behind counts on.
local function save(counter)
  local own = counter.own
  local mark = own.isUntaken and '0' or ''
  redis.call('HSET', counter.key, gateway, mark .. whole(counter.start) .. ' ' .. whole(own.c) .. ' ' .. whole(own.p))
  if #counter.past > 0 then redis.call('HDEL', counter.key, unpack(counter.past)) end
  local ttl = 2 * counter.window
  if counter.isCalendar then ttl = math.max(0, counter.start + counter.window - now) + ${CALENDAR_GRACE_MS} end
  redis.call('PEXPIRE', counter.key, whole(ttl))
end

local function told(isAllowed, refused, begun)
  local reply = { now, isAllowed }
  for i = 1, #KEYS do
    local counter = counterOf(i)
    local own = counter.own
    local to = #reply
    reply[to + 1] = counter.start
    reply[to + 2] = counter.othersC + own.c
    reply[to + 3] = counter.othersP + own.p
    reply[to + 4] = refused[i] or 0
    reply[to + 5] = begun[i] or 0
  end
  return reply
end
`;

/**
 * Own arguments: limit, amount. Behind those of the last key until when the reply is awaited, or empty; later nothing is taken, and
 * the reply is now alone. Else it is now, 1 or 0 for allowed, and `NUMBERS_PER_KEY` for each key.
 */
export const TAKE = `${PRELUDE}
local deadline = tonumber(ARGV[#KEYS * ${ARGUMENTS_PER_KEY} + 3])
if deadline and now > deadline then return { now } end
local isAllowed = 1
local refused, begun = {}, {}
for i = 1, #KEYS do
  local counter, at = counterOf(i)
  local own = counter.own
  local amount = tonumber(ARGV[at + 5])
  begun[i] = own.isUntaken and 1 or 0
  if used(counter) + amount > tonumber(ARGV[at + 4]) then
    refused[i] = 1
    isAllowed = 0
  else
    refused[i] = 0
    own.c = own.c + amount
  end
end
if isAllowed == 1 then
  for i = 1, #KEYS do
    local counter, at = counterOf(i)
    if tonumber(ARGV[at + 5]) > 0 then counter.own.isUntaken = false end
    save(counter)
  end
else
  for i = 1, #KEYS do
    local counter, at = counterOf(i)
    if refused[i] == 0 then counter.own.c = counter.own.c - tonumber(ARGV[at + 5]) end
  end
end
return told(isAllowed, refused, begun)
`;

/** Own arguments: none that matter. Replies like TAKE, and writes nothing. */
export const LOOK = `${PRELUDE}
return told(1, {}, {})
`;

/**
 * Own arguments: when it was taken (empty: now), amount. Behind those of the last key what time it is for the gateway, where when it
 * was taken is by that clock; else empty.
 *
 * @param apply what becomes of the gateway's `own` part of a `counter`, in Lua, given `amount`, `window` and when it was `taken`, by the
 * clock that says `gatewayNow`
 */
const change = (apply: string): string => `${PRELUDE}
local gatewayNow = tonumber(ARGV[#KEYS * ${ARGUMENTS_PER_KEY} + 3]) or now
for i = 1, #KEYS do
  local counter, at = counterOf(i)
  local window, own = counter.window, counter.own
  local taken = tonumber(ARGV[at + 4]) or gatewayNow
  local amount = tonumber(ARGV[at + 5])
  if counter.isStored or amount > 0 then
    ${apply}
    counter.isStored = true
    counter.isChanged = true
  end
end
for _, counter in pairs(counters) do
  if counter.isChanged then save(counter) end
end
return 1
`;

/** Adds, never below zero. */
export const CORRECT = change(`
    local here = taken + now - gatewayNow
    local first = here - here % window
    if counter.isCalendar or first >= counter.start then
      own.c = math.max(0, own.c + amount)
    elseif first == counter.start - window then
      own.p = math.max(0, own.p + amount)
    end
`);

/**
 * Raises to at least the amount. Where the clocks differ, a bucket of the gateway's lies across two of these, and each gets its share,
 * as if the amount had been taken evenly until now; shares of the same bucket add up.
 */
export const SEED = change(`
    local from = taken - taken % window
    local to = math.max(from + 1, math.min(from + window, gatewayNow))
    local function takenSince(time)
      local share = (to + now - gatewayNow - time) / (to - from)
      return math.ceil(amount * math.min(1, math.max(0, share)))
    end
    local c = counter.isCalendar and amount or takenSince(counter.start)
    local p = counter.isCalendar and 0 or takenSince(counter.start - window) - c
    local seeded = counter.seeded or { c = 0, p = 0 }
    counter.seeded = { c = seeded.c + c, p = seeded.p + p }
    own.c = math.max(own.c, counter.seeded.c)
    own.p = math.max(own.p, counter.seeded.p)
    if amount > 0 then own.isUntaken = false end
`);
