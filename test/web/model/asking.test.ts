import { expect, test } from '@jest/globals';
import { askingOver } from '../../../web/model/asking.ts';

/** What was asked for, each answered with the same. */
function answering(answer: () => Response) {
  const asked: string[] = [];
  const asking = askingOver(async (resource) => {
    asked.push(resource);
    return answer();
  });
  return { asked, asking };
}

test('each question has a resource of its own; what is not given is not in it', async () => {
  const { asked, asking } = answering(() => Response.json({}));
  await asking.snapshot(5);
  await asking.story('uid 1', 1, 2);
  await asking.rail();
  await asking.detail('pod/a/container/b&c');
  await asking.detail('pod/a', 7);
  await asking.actorHistory('pod/a', 7);
  await asking.log('pod/a/container/b');
  await asking.object('a');
  await asking.drawing('container');
  await asking.drawing('container', 'run');
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
  const { asking } = answering(() =>
    Response.json({ kind: 'Status', message: 'there is no actor x' }, { status: 404 }),
  );
  await expect(asking.detail('x')).rejects.toThrow('there is no actor x');
});

test('one without words says what was answered', async () => {
  const { asking } = answering(() => new Response('<html>', { status: 502 }));
  await expect(asking.rail()).rejects.toThrow('the server answered 502');
});
