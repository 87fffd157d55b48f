import { describe, expect, it } from 'vitest';
import { isPublicAddress } from './public-address.js';

describe('a public address', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '169.253.1.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '[2a00:1450:4001:830::200e]',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
  ])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.7',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '[::1]',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '0:0:0:0:0:ffff:10.0.0.1',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::8.8.8.8',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:db8::1',
    '2606:4700::5efe:10.0.0.1',
    '2606:4700::200:5efe:7f00:1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '100::1',
    '3fff::1',
    '4000::1',
    // A metadata service in the midst of the public internet: Azure's.
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '64:ff9b::168.63.129.16',
    '2002:a83f:8110::1',
    '',
    'localhost',
    '1.2.3',
    '::ffff:8.8.8',
  ])('%s is none', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    ['http://2130706433/', false],
    ['http://0x7f.1/', false],
    ['http://0177.0.0.1/', false],
    ['http://0xa9fea9fe/', false],
    ['http://127.1/', false],
    ['http://①②⑦.0.0.1/', false],
    ['http://134744072/', true],
  ])('is seen through the spelling %s of a URL', (url, expected) => {
    expect(isPublicAddress(new URL(url).hostname)).toBe(expected);
  });
});

it('ends where a range that is not public begins, and begins where it ends', () => {
  const last = [
    ...['0.255.255.255', '10.255.255.255', '100.127.255.255', '192.0.0.255', '192.0.2.255', '192.88.99.255'],
    ...['192.168.255.255', '198.19.255.255', '198.51.100.255', '203.0.113.255', '239.255.255.255'],
    ...['2001:1ff:ffff::1', '2001:db8:ffff::1', '3fff:fff:ffff::1'],
  ];
  const next = [
    ...['1.0.0.0', '11.0.0.0', '100.128.0.0', '192.0.1.0', '192.0.3.0', '192.88.100.0', '192.169.0.0'],
    ...['198.20.0.0', '198.51.101.0', '203.0.114.0', '2001:200::1', '2001:db9::1'],
  ];
  expect(last.filter(isPublicAddress)).toEqual([]);
  expect(next.filter((address) => !isPublicAddress(address))).toEqual([]);
});
