/**
 * How a Lua script begins that needs the time: `now`, in whole milliseconds. ARGV[1] is empty for the clock of Redis, which
 * all gateways share, and a number only in tests.
 */
export const NOW = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
`;
