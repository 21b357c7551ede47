import { expect, test } from '@jest/globals';
import { createClient } from '../../../web/model/serverClient.ts';

/** What was asked for, each answered with the same. */
function answering(answer: () => Response) {
  const asked: string[] = [];
  const client = createClient(async (resource) => {
    asked.push(resource);
    return answer();
  });
  return { asked, client };
}

test('each question has a resource of its own; what is not given is not in it', async () => {
  const { asked, client } = answering(() => Response.json({}));
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
  expect(asked).toEqual([
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

test('a refusal says why, in the words of its Status', async () => {
  const { client } = answering(() =>
    Response.json({ kind: 'Status', message: 'there is no actor x' }, { status: 404 }),
  );
  await expect(client.detail('x')).rejects.toThrow('there is no actor x');
});

test('one without words says what was answered', async () => {
  const { client } = answering(() => new Response('<html>', { status: 502 }));
  await expect(client.rail()).rejects.toThrow('the server answered 502');
});
