import { expect, test } from 'vitest';
import { isMetadataAddress } from './metadata-address.js';

/** As a URL's parser gives it. */
const hostOf = (url: string): string => new URL(url).hostname;

test.each([
  'http://169.254.169.254/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://[::ffff:169.254.169.254]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b::100.100.100.200]/',
  'http://[64:ff9b::168.63.129.16]/',
  'http://[64:ff9b:1::169.254.169.254]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[::169.254.169.254]/',
  'http://[::ffff:0:169.254.169.254]/',
  'http://[::ffff:100.100.100.200]/',
  'http://[fe80::1]/',
  'http://[febf:ffff::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fd00:ec2:ffff::254]/',
  'http://[fd20:ce::254]/',
  'http://[fd20:00ce:0:0:0:0:0:0254]/',
  'http://[fd00:c1::a9fe:a9fe]/',
  'http://[fd00:a9fe:a9fe::1]/',
  'http://[fd00:42::42]/',
  'http://[fd00:100::100:200]/',
  'http://192.0.0.192/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
])('%s is where a cloud keeps its secrets', (url) => {
  expect(isMetadataAddress(hostOf(url))).toBe(true);
});

test('an address with a zone is the same one', () => {
  expect(isMetadataAddress('fe80::1%eth0')).toBe(true);
  expect(isMetadataAddress('::ffff:169.254.169.254%eth0')).toBe(true);
});

test.each([
  'http://127.0.0.1/',
  'http://10.0.0.8/',
  'http://192.168.1.7/',
  'http://[::1]/',
  'http://[fd12:3456::1]/',
  'http://[fd20:ce::253]/',
  'http://[fd00:ec3::254]/',
  'http://[fec0::1]/',
  'http://169.253.1.1/',
  'http://169.255.1.1/',
  'http://8.8.8.8/',
  'http://[64:ff9b::8.8.8.8]/',
  'http://[2002:a00:8::1]/',
  'http://[2606:4700::5efe:10.0.0.8]/',
  'http://vllm.internal/',
])('%s may be an upstream', (url) => {
  expect(isMetadataAddress(hostOf(url))).toBe(false);
});
