import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { fakeInspected, fakeLive, servedPage, until } from '../support/served.ts';

describe('viewers', () => {
  const stream = (port: number) => `GET /api/stream HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`;

  test('receive the same events after a snapshot, and without viewers the node is not observed', async () => {
    const live = fakeLive();
    const { port } = await servedPage({ inspected: fakeInspected(live) });
    const connections = [0, 1].map(() => connect({ host: '127.0.0.1', port }));
    const heard = connections.map((connection) => {
      const parts: string[] = [];
      connection.on('data', (part: Buffer) => parts.push(part.toString()));
      connection.write(stream(port));
      return parts;
    });
    await until(() => heard.every((parts) => parts.join('').includes('event: snapshot')));
    expect(live.followers.size).toBe(1);
    live.tell({ at: 7 });
    await until(() => heard.every((parts) => parts.join('').includes('event: frame\ndata: {"at":7')));
    for (const connection of connections) connection.destroy();
    await until(() => live.followers.size === 0);
  });

  test('are limited to sixteen at a time', async () => {
    const live = fakeLive();
    const { port, get } = await servedPage({ inspected: fakeInspected(live) });
    const connections = Array.from({ length: 16 }, () => connect({ host: '127.0.0.1', port }));
    for (const connection of connections) connection.write(stream(port));
    await Promise.all(connections.map((connection) => once(connection, 'data')));
    expect(await get('/api/stream')).toMatchObject({
      code: 403,
      body: expect.stringContaining('16 are looking already'),
    });
    const [first, ...rest] = connections;
    first?.destroy();
    await until(() => live.followers.size === 1);
    const next = connect({ host: '127.0.0.1', port });
    await until(() => next.writableLength === 0);
    for (const connection of [...rest, next]) connection.destroy();
    await until(() => live.followers.size === 0);
  });

  test('that leave during the preparation of their response are not counted', async () => {
    const live = fakeLive();
    const { promise, resolve } = Promise.withResolvers<void>();
    let asked = 0;
    const { port, get } = await servedPage({
      inspected: async () => {
        asked += 1;
        await promise;
        return fakeInspected(live);
      },
    });
    const connection = connect({ host: '127.0.0.1', port });
    connection.write(stream(port));
    await until(() => asked === 1);
    connection.destroy();
    const other = connect({ host: '127.0.0.1', port });
    other.write(stream(port));
    // These requests complete after the server has noticed that the first client disconnected.
    for (let count = 0; count < 5; count += 1) await get('/', { headers: { host: 'evil.example' } });
    resolve();
    await once(other, 'data');
    other.destroy();
    await until(() => live.followers.size === 0);
  });

  test('that send many requests on one connection occupy only one slot', async () => {
    const live = fakeLive();
    const { port } = await servedPage({ inspected: fakeInspected(live) });
    const connection = connect({ host: '127.0.0.1', port });
    let heard = '';
    connection.on('data', (part: Buffer) => {
      heard += part.toString();
    });
    connection.write(stream(port).repeat(40));
    await until(() => heard.includes('event: snapshot'));
    const others = Array.from({ length: 15 }, () => connect({ host: '127.0.0.1', port }));
    for (const other of others) other.write(stream(port));
    const answers = await Promise.all(others.map((other) => once(other, 'data')));
    for (const [answer] of answers) expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    for (const each of [connection, ...others]) each.destroy();
    await until(() => live.followers.size === 0);
  });

  test('whose snapshot fails receive the reason, and the node is not observed for them', async () => {
    const live = fakeLive();
    const broken = {
      ...live,
      snapshot: () => {
        throw new Error('broken');
      },
    };
    const { get } = await servedPage({ inspected: fakeInspected(broken) });
    expect(await get('/api/stream')).toMatchObject({ code: 500, body: expect.stringContaining('broken') });
    expect(live.followers.size).toBe(0);
  });
});
