import { expect, test } from '@jest/globals';
import { parseResolvConf } from '../../cri/resolvConf.ts';

test('C20: of a resolv.conf all servers count, the last search list without dots at its ends, and all options', () => {
  const text =
    '# a comment\nnameserver 1.1.1.1\nnameserver fd00::1 more\nsearch old\nsearch . a.example. b\noptions x\noptions y:1 z\n';
  expect(parseResolvConf(text)).toEqual({
    servers: ['1.1.1.1', 'fd00::1'],
    searches: ['a.example', 'b'],
    options: ['x', 'y:1', 'z'],
  });
});

test('C20: a resolv.conf with a name server without address makes no sense', () => {
  expect(() => parseResolvConf('nameserver 1.1.1.1\nnameserver\n')).toThrow('nameserver list is empty');
});
