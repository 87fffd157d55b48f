/**
 * Remembers one prompt and forgets what it pushes out, as one step: two sidecars that record at once still leave the
 * last few, and no reader sees one more. Order is that of arrival, counted in the sorted set itself, so clocks that
 * differ do not matter.
 *
 * KEYS: order, entry. ARGV: member of the order, entries to keep, ttl in ms, prefix of the scope's entries, and then
 * the entry's fields and values. Replies how many were pushed out.
 *
 * Keys of pushed-out entries are made from the prefix; its hash tag puts them in the same slot as KEYS.
 *
 * What these scripts cannot have written gives way: a key of another type, and an order that has run out of whole numbers, behind
 * which nothing could arrive. An order that went leaves its entries to expire.
 */
export const RECORD = `
local function giveWay(key, kind)
  local stands = redis.call('TYPE', key).ok
  if stands ~= kind and stands ~= 'none' then redis.call('DEL', key) end
end
giveWay(KEYS[1], 'zset')
giveWay(KEYS[2], 'hash')

local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local arrival = tonumber(newest[2] or 0) + 1
if not (arrival > 0 and arrival < 9007199254740992) then
  redis.call('DEL', KEYS[1])
  arrival = 1
end

local fields = {}
for i = 5, #ARGV do fields[#fields + 1] = ARGV[i] end
redis.call('HSET', KEYS[2], unpack(fields))
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('ZADD', KEYS[1], arrival, ARGV[1])
-- The newest entry's time is the longest, so the order outlives all its entries.
redis.call('PEXPIRE', KEYS[1], ARGV[3])

local excess = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[2])
if excess <= 0 then return 0 end
local oldest = redis.call('ZRANGE', KEYS[1], 0, excess - 1)
for _, member in ipairs(oldest) do
  redis.call('DEL', ARGV[4] .. member)
  redis.call('ZREM', KEYS[1], member)
end
return excess
`;
