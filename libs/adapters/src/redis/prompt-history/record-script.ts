/**
 * Remembers one prompt and forgets what it pushes out, as one step: two sidecars that record at once still leave the
 * last few, and no reader sees one more. Order is that of arrival, counted in the sorted set itself, so clocks that
 * differ do not matter.
 *
 * KEYS: order, entry. ARGV: member of the order, entries to keep, ttl in ms, prefix of the scope's entries, and then
 * the entry's fields and values. Replies how many were pushed out.
 *
 * Keys of pushed-out entries are made from the prefix; its hash tag puts them in the same slot as KEYS.
 */
export const RECORD = `
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local arrival = tonumber(newest[2] or 0) + 1

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
