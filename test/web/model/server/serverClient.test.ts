import { expect, test } from '@jest/globals';
import { createClient } from '../../../../web/model/server/serverClient.ts';

/** Records the requests and answers all of them with the same response. */
function answering(answer: () => Response) {
  const requests: string[] = [];
  const client = createClient(async (resource) => {
    requests.push(resource);
    return answer();
  });
  return { requests, client };
}

test('each request has its own resource, without undefined parameters', async () => {
  const { requests, client } = answering(() => Response.json({}));
  await client.snapshot(5);
  await client.story('uid 1', 1, 2);
  await client.rail();
  await client.detail('pod/a/container/b&c');
  await client.detail('pod/a', 7);
  await client.actorHistory('pod/a', 7);
  await client.log('pod/a/container/b');
  await client.object('a');
  await client.drawing('container');
  await client.drawing('container', 'run');
  expect(requests).toEqual([
    '/api/snapshot?at=5',
    '/api/story?uid=uid+1&from=1&to=2',
    '/api/rail',
    '/api/detail?path=pod%2Fa%2Fcontainer%2Fb%26c',
    '/api/detail?path=pod%2Fa&at=7',
    '/api/history?path=pod%2Fa&at=7',
    '/api/log?path=pod%2Fa%2Fcontainer%2Fb',
    '/api/object?uid=a',
    '/assets/charts/container.json',
    '/assets/charts/container.run.json',
  ]);
});

test('an error has the message of its Status', async () => {
  const { client } = answering(() =>
    Response.json({ kind: 'Status', message: 'there is no actor x' }, { status: 404 }),
  );
  await expect(client.detail('x')).rejects.toThrow('there is no actor x');
});

test('an error without a Status has the HTTP status code', async () => {
  const { client } = answering(() => new Response('<html>', { status: 502 }));
  await expect(client.rail()).rejects.toThrow('the server answered 502');
});
