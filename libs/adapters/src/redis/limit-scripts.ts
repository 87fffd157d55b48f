/**
 * The limiter's operations as Lua, each atomic and one round trip. They hold the decision and nothing else: how long
 * to wait is computed from their reply, by the same functions that the limiter in memory uses.
 *
 * A counter is a hash with a part for each gateway, `<start of its latest slot or its bucket> <taken in that> <taken before>`, and says
 * their sum. Of a sliding counter a second field, `past <gateway>`, has the slots before, `<start>:<taken> `, oldest first: it is written
 * when a slot is over, and read where the oldest counts no more or somebody is to be told how long to wait, so that a take costs the
 * same however many slots there are. A gateway changes its own part alone: what it seeds or gives back is its own, so that the sum is
 * right again once each gateway has said what it knows, whatever Redis has lost. A part that a correction made has a 0 before its start,
 * until something is taken or seeded: what there had been before may be lost. A calendar counter's key names its bucket, and gateways
 * that know nothing of slots read the same number. All numbers are whole and below 2^53, where Lua's doubles are exact; they are written
 * with `%.0f`, since Lua's own conversion keeps 14 digits. ARGV[1] is the time, ARGV[2] the gateway.
 *
 * What is read is believed only if it may be what these scripts wrote: any other part is none, and a key of another type gives way. What
 * was taken before is counted anew, from its slots, once a window, where it cannot be right, and where the caller says `recount`, behind the
 * arguments of all keys and one more.
 */
import { CALENDAR_GRACE_MS, SLOTS_PER_WINDOW } from '#domain/policy';
import { NOW } from './script-clock.js';

/** Arguments for each key: kind (0 sliding, 1 calendar), windowMs, startMs (calendar), and two of the operation's own. */
const ARGUMENTS_PER_KEY = 5;
/**
 * Values of a reply for each key: how much is used, whether it refused, whether nothing had been taken by the gateway, and of a sliding
 * one that refused, or has room for no more, the slots of all gateways, one after another, as a part has them.
 */
export const VALUES_PER_KEY = 4;

const PRELUDE = `${NOW}
local gateway = ARGV[2]
local mustRecount = ARGV[#KEYS * ${ARGUMENTS_PER_KEY} + 4] == 'recount'
local counters = {}

local function whole(number) return string.format('%.0f', number) end
local function inText(start, amount) return whole(start) .. ':' .. whole(amount) .. ' ' end

-- Nil for what is none of ours.
local function number(digits)
  local value = tonumber(digits)
  return value and value < 9007199254740992 and value or nil
end

-- What was taken before, by the slots that count, each once.
local function recount(part, counter)
  local last, taken, slots = counter.start - counter.reach - 1, 0, {}
  for start, amount in string.gmatch(part.past, '(%d+):(%d+) ') do
    start, amount = number(start), number(amount)
    if start and amount and start > last and start < part.start then
      last, taken = start, taken + amount
      slots[#slots + 1] = inText(start, amount)
    end
  end
  part.p, part.past = taken, table.concat(slots)
end

-- Slots that count no more leave.
local function moveOn(part, counter)
  local oldest = counter.start - counter.reach
  if part.start < oldest then
    part.c, part.p, part.past = 0, 0, ''
    return
  end
  local at, left, first = 1
  while true do
    local _, last, start, amount = string.find(part.past, '^(%d+):(%d+) ', at)
    first = last and number(start)
    if not first or first >= oldest then break end
    part.p = part.p - (number(amount) or part.p)
    at, left = last + 1, first
  end
  part.past = string.sub(part.past, at)
  local isTorn = part.past ~= '' and not (first and first < part.start)
  local isWrong = part.p < 0 or (part.p == 0) ~= (part.past == '')
  -- Once a window, however it looks.
  local isDue = left and first and math.floor(left / counter.window) ~= math.floor(first / counter.window)
  if mustRecount or isTorn or isWrong or isDue then recount(part, counter) end
  -- Its clock was ahead, and is not awaited.
  if part.start > counter.start + counter.window then
    part.start, part.c, part.p, part.past = counter.start, part.c + part.p, 0, ''
    counter.isSetBack = true
  end
end

-- The counter of KEYS[i], as of the slot or the bucket of now. Equal keys share one.
local function counterOf(i)
  local at = (i - 1) * ${ARGUMENTS_PER_KEY} + 2
  local known = counters[KEYS[i]]
  if known then return known, at end
  local isCalendar = ARGV[at + 1] == '1'
  local window = tonumber(ARGV[at + 2])
  local slot = math.ceil(window / ${SLOTS_PER_WINDOW})
  local first = isCalendar and tonumber(ARGV[at + 3]) or now - now % slot
  local counter = {
    key = KEYS[i], isCalendar = isCalendar, window = window, slot = slot, reach = math.ceil(window / slot) * slot, start = first,
    own = { of = gateway, start = first, c = 0, p = 0, past = '', isUntaken = true }, others = 0, parts = {}, isStored = false,
  }
  local stored = redis.pcall('HGETALL', KEYS[i])
  if stored.err then
    -- Any other error is raised by asking again.
    counter.isForeign = redis.call('TYPE', KEYS[i]).ok ~= 'hash'
    stored = counter.isForeign and {} or redis.call('HGETALL', KEYS[i])
  end
  local texts = {}
  for field = 1, #stored, 2 do texts[stored[field]] = stored[field + 1] end
  counter.own.stored = texts['past ' .. gateway]
  for of, text in pairs(texts) do
    local mark, start, c, p = string.match(text, '^(0?)(%d+) (%d+) (%d+)$')
    start, c, p = number(start), number(c), number(p)
    if start and c and p and not (isCalendar and start ~= first) then
      local past = texts['past ' .. of] or ''
      local part = { of = of, start = start, c = c, p = p, past = past, stored = past, isUntaken = mark == '0' }
      if not isCalendar then moveOn(part, counter) end
      if of == gateway then
        counter.own = part
        part.isUntaken = part.isUntaken or part.c + part.p == 0
        counter.isStored = true
      else
        counter.others = counter.others + part.c + part.p
        counter.parts[#counter.parts + 1] = part
      end
    end
  end
  counters[KEYS[i]] = counter
  return counter, at
end

local function used(counter) return counter.others + counter.own.c + counter.own.p end

-- Adds to slots of the gateway's own, given by their starts, never to below zero.
local function alter(own, changes)
  local amounts, starts = { [own.start] = own.c }, {}
  for start, amount in string.gmatch(own.past, '(%d+):(%d+) ') do
    start = number(start)
    if start and start < own.start then amounts[start] = number(amount) end
  end
  for start, amount in pairs(changes) do amounts[start] = math.max(0, (amounts[start] or 0) + amount) end
  for start, amount in pairs(amounts) do
    if amount > 0 then starts[#starts + 1] = start end
  end
  table.sort(starts)
  local latest = table.remove(starts)
  own.start, own.c, own.p = latest or own.start, latest and amounts[latest] or 0, 0
  local past = {}
  for at, start in ipairs(starts) do
    own.p = own.p + amounts[start]
    past[at] = inText(start, amounts[start])
  end
  own.past = table.concat(past)
end

local function add(counter, start, amount)
  local own = counter.own
  if start == own.start then
    own.c = math.max(0, own.c + amount)
  elseif start > own.start and amount > 0 then
    if own.c > 0 then
      own.past = own.past .. inText(own.start, own.c)
      own.p = own.p + own.c
    end
    own.start, own.c = start, amount
  elseif amount ~= 0 then
    alter(own, { [start] = amount })
  end
end

local function written(part)
  return (part.isUntaken and '0' or '') .. whole(part.start) .. ' ' .. whole(part.c) .. ' ' .. whole(part.p)
end

-- Every key expires: a sliding counter once all its slots are past, a calendar one an hour after its end, for
-- corrections of calls that ran across it, or after its last change: a gateway whose clock is behind counts on.
local function save(counter)
  local own, key = counter.own, counter.key
  if counter.isForeign then redis.call('DEL', key) end
  redis.call('HSET', key, gateway, written(own))
  if own.past ~= (own.stored or '') then redis.call('HSET', key, 'past ' .. gateway, own.past) end
  for _, part in ipairs(counter.parts) do
    if part.c + part.p == 0 then
      redis.call('HDEL', key, part.of, 'past ' .. part.of)
    elseif part.past ~= part.stored or counter.isSetBack then
      redis.call('HSET', key, part.of, written(part), 'past ' .. part.of, part.past)
    end
  end
  local ttl = counter.reach + counter.slot
  if counter.isCalendar then ttl = math.max(0, counter.start + counter.window - now) + ${CALENDAR_GRACE_MS} end
  redis.call('PEXPIRE', key, whole(ttl))
end

local function told(isAllowed, refused, begun)
  local reply = { now, isAllowed }
  for i = 1, #KEYS do
    local counter, at = counterOf(i)
    local sum = used(counter)
    local slots = ''
    if not counter.isCalendar and (refused[i] == 1 or sum >= tonumber(ARGV[at + 4])) then
      slots = counter.own.past .. inText(counter.own.start, counter.own.c)
      for _, part in ipairs(counter.parts) do slots = slots .. part.past .. inText(part.start, part.c) end
    end
    local to = #reply
    reply[to + 1] = sum
    reply[to + 2] = refused[i] or 0
    reply[to + 3] = begun[i] or 0
    reply[to + 4] = slots
  end
  return reply
end
`;

/**
 * Own arguments: limit, amount. Behind those of the last key until when the reply is awaited, or empty; later nothing is taken, and
 * the reply is now alone. Else it is now, 1 or 0 for allowed, and `VALUES_PER_KEY` for each key.
 */
export const TAKE = `${PRELUDE}
local deadline = tonumber(ARGV[#KEYS * ${ARGUMENTS_PER_KEY} + 3])
if deadline and now > deadline then return { now } end
local isAllowed = 1
local refused, begun = {}, {}
for i = 1, #KEYS do
  local counter, at = counterOf(i)
  local amount = tonumber(ARGV[at + 5])
  begun[i] = counter.own.isUntaken and 1 or 0
  if used(counter) + amount > tonumber(ARGV[at + 4]) then
    refused[i] = 1
    isAllowed = 0
  else
    refused[i] = 0
    add(counter, counter.start, amount)
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
    if refused[i] == 0 then add(counter, counter.start, -tonumber(ARGV[at + 5])) end
  end
  for _, counter in pairs(counters) do
    if counter.isSetBack or mustRecount then save(counter) end
  end
end
return told(isAllowed, refused, begun)
`;

/**
 * Own arguments: when it was taken (empty: now), amount. Behind those of the last key what time it is for the gateway, where when it
 * was taken is by that clock; else empty.
 *
 * @param apply what becomes of the gateway's own part of a `counter`, in Lua, given `amount`, `slot`, `oldest` and when it was `taken`, by the
 * clock that says `gatewayNow`
 */
const change = (apply: string): string => `${PRELUDE}
local gatewayNow = tonumber(ARGV[#KEYS * ${ARGUMENTS_PER_KEY} + 3]) or now
for i = 1, #KEYS do
  local counter, at = counterOf(i)
  local window, slot, oldest, own = counter.window, counter.slot, counter.start - counter.reach, counter.own
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
    local start = math.min(here - here % slot, math.max(counter.start, own.start))
    if counter.isCalendar then start = counter.start end
    if counter.isCalendar or start >= oldest then add(counter, start, amount) end
`);

/** Raises to at least the amount; a sliding counter as the limiter in memory does, by the clock of Redis. @see seedShares */
export const SEED = change(`
    if counter.isCalendar then
      own.c = math.max(own.c, amount)
    else
      local from = taken - taken % window
      local to = math.max(from + 1, math.min(from + window, gatewayNow))
      -- In whole slots: what is on its way for a few milliseconds more or less is about the same ones.
      local ahead = math.floor((now - gatewayNow) / slot + 0.5) * slot
      local last = (to == gatewayNow and now or to + ahead) - 1
      last = last - last % slot
      local takenTo = to == gatewayNow and math.huge or last
      local first = math.min(last, math.ceil(from / slot) * slot + ahead)
      local count = (last - first) / slot + 1
      first = math.max(first, oldest)
      local left = (last - first) / slot + 1
      recount(own, counter)
      local missing = math.floor(amount / count) * left + math.min(amount % count, left)
      for start, taken in string.gmatch(own.past .. inText(own.start, own.c), '(%d+):(%d+) ') do
        if tonumber(start) >= first and tonumber(start) <= takenTo then missing = missing - tonumber(taken) end
      end
      local shares = {}
      while left > 0 and missing > 0 do
        local share = math.ceil(missing / left)
        shares[last] = share
        missing, left, last = missing - share, left - 1, last - slot
      end
      alter(own, shares)
    end
    if amount > 0 then own.isUntaken = false end
`);
