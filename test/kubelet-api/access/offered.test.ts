import { expect, test } from '@jest/globals';
import { BadOffer, bearerToken, protocolToken, stripTokens } from '../../../kubelet-api/access/offered.ts';

test.each([
  [undefined, undefined],
  ['', undefined],
  ['Bearer abc', 'abc'],
  ['  bearer abc  ', 'abc'],
  ['BEARER abc more', 'abc'],
  ['Bearer', undefined],
  ['Bearer  abc', undefined],
  ['Basic abc', undefined],
])('the bearer token of the header %j is %j', (authorization, token) =>
  expect(bearerToken(authorization === undefined ? {} : { authorization })).toBe(token),
);

test('a token that is far too long is rejected unparsed', () => {
  expect(() => bearerToken({ authorization: `Bearer ${'x'.repeat(32 * 1024 + 1)}` })).toThrow(BadOffer);
  expect(bearerToken({ authorization: `Bearer ${'x'.repeat(32 * 1024)}` })).toHaveLength(32 * 1024);
});

const WEBSOCKET = { upgrade: 'WebSocket', connection: 'keep-alive, Upgrade' };
const offering = (token: string | Buffer) =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
const asking = (protocols: string) => protocolToken({ ...WEBSOCKET, 'sec-websocket-protocol': protocols });

test('C38: a WebSocket subprotocol may carry a token, beside another subprotocol', () => {
  expect(asking(`v4.channel.k8s.io, ${offering('sesam öffne')}`)).toBe('sesam öffne');
  expect(asking('v4.channel.k8s.io')).toBeUndefined();
  expect(asking(`v4.channel.k8s.io,${offering('')}`)).toBeUndefined();
  expect(() => asking(offering('alone'))).toThrow(BadOffer);
});

test.each([
  ['two tokens', `a,${offering('one')},${offering('two')}`],
  ['a token that is not base64url', `a,${offering('one')}=`],
  ['a token of a length that base64url cannot have', `a,${offering('one')}A`],
  ['a token that is not UTF-8', `a,${offering(Buffer.from([0xff, 0xfe]))}`],
])('invalid token subprotocols are rejected without being quoted: %s', (_, protocols) => {
  expect(() => asking(protocols)).toThrow(BadOffer);
  expect(() => asking(protocols)).not.toThrow(/b25l|one,/);
});

test.each([
  [{ upgrade: 'SPDY/3.1', connection: 'Upgrade' }],
  [{ upgrade: 'websocket', connection: 'keep-alive' }],
  [{}],
])('a token subprotocol counts only for WebSockets, not for %j', (headers) =>
  expect(protocolToken({ ...headers, 'sec-websocket-protocol': `a,${offering('token')}` })).toBeUndefined(),
);

test('all tokens are removed from a request, and nothing else', () => {
  const protocols = `v4.channel.k8s.io, ${offering('token')}, channel.k8s.io`;
  const rawHeaders = [
    'Host',
    'node',
    'Authorization',
    'Bearer token',
    'Sec-WebSocket-Protocol',
    protocols,
    'sec-websocket-protocol',
    offering('other'),
    'Empty',
    '',
    'Accept',
    'a,b',
  ];
  const headers = { host: 'node', authorization: 'Bearer token', 'sec-websocket-protocol': protocols, accept: 'a,b' };
  stripTokens({ headers, rawHeaders });
  expect(rawHeaders).toEqual([
    'Host',
    'node',
    'Sec-WebSocket-Protocol',
    'v4.channel.k8s.io, channel.k8s.io',
    'Empty',
    '',
    'Accept',
    'a,b',
  ]);
  expect(headers).toEqual({
    host: 'node',
    accept: 'a,b',
    'sec-websocket-protocol': 'v4.channel.k8s.io, channel.k8s.io',
  });
});
