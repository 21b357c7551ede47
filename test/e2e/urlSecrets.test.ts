/** The secrets in a manifest URL and its headers never leave the agent, whatever the server does. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from './support/eventually.ts';
import { forAllTests, nodeForAllTests } from './support/forAllTests.ts';
import { loopbackServer } from './support/loopbackServer.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';
import { statelet } from './support/statelet.ts';

const secrets = ['hunter-user', 'hunter-two', 'aGlkZGVu', 'bearer-of-pods'] as const;
const [user, password, token, bearer] = secrets;

/** Returns the response of the URL to a request, given the path and the Authorization header. */
let respond: (sent: string) => { readonly code: number; readonly words?: string; readonly body: string };
const server = await forAllTests(() =>
  loopbackServer(({ url, headers }, response) => {
    const { code, words, body } = respond(`${url} ${headers.authorization}`);
    response.writeHead(code, words).end(body);
  }),
);
const steady = podManifest('steady', [shell('main', steadily())]);
respond = () => ({ code: 200, body: JSON.stringify(steady) });
const url = `http://${user}:${password}@127.0.0.1:${server.port}/pods?token=${token}`;
const node = await nodeForAllTests(() => runNode('httpCheckFrequency: 1s'), {
  args: ['--manifest-url', url, '--manifest-url-header', `Authorization: Bearer ${bearer}`],
});

/** Returns all files that the agent stores, with their modes. */
async function storedFiles(): Promise<{ file: string; mode: number; text: string }[]> {
  const directory = join(node.rootDir, 'statelet');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const file = join(parentPath, name);
        return { file, mode: (await stat(file)).mode & 0o777, text: await readFile(file, 'utf8') };
      }),
  );
}

const secretsIn = (text: string) => secrets.filter((secret) => text.includes(secret));

async function shownByCommands(): Promise<string> {
  const commands = [
    ['explain', 'node'],
    ['explain', 'steady'],
    ['describe', 'steady'],
    ['get', 'events'],
    ['get', 'pods'],
  ];
  const outputs = await Promise.all(commands.map((words) => statelet(...words, '--root-dir', node.rootDir)));
  const objects = await Promise.all(['/node', '/api/v1/pods', '/explain/node'].map((each) => node.ask(each)));
  return JSON.stringify([outputs, objects]);
}

const problem = () =>
  eventually('the node tells of a problem', async () => {
    const text = JSON.stringify(await node.ask('/node'));
    return /"problems":\[\{[^\]]*\}\]/.exec(text)?.[0];
  });

test('URL secrets are not shown or stored if the URL works, is rejected, echoes them or does not respond', async () => {
  await node.running('steady');
  expect(secretsIn(await shownByCommands())).toEqual([]);

  respond = (sent) => ({ code: 403, words: `no ${sent}`, body: sent });
  expect(await problem()).toContain('the server answered 403');
  expect(secretsIn(await shownByCommands())).toEqual([]);

  respond = (sent) => ({ code: 200, body: JSON.stringify({ ...steady, kind: sent, [sent]: 1 }) });
  await eventually('the nonsense is told', async () => (await problem()).includes('expected Pod'));
  expect(secretsIn(await shownByCommands())).toEqual([]);

  await server.end();
  await eventually('the refusal is told', async () => (await problem()).includes('ECONNREFUSED'));
  expect(secretsIn(await shownByCommands())).toEqual([]);

  expect(secretsIn(node.agent.out() + node.agent.err())).toEqual([]);
  const files = await storedFiles();
  expect(files.some(({ text }) => text.includes('steady'))).toBe(true);
  for (const { file, mode, text } of files)
    expect([file, mode, secretsIn(`${file} ${text}`)]).toEqual([file, 0o600, []]);
});

test.each([
  ['--manifest-url', `htp://${user}:${password}@host/pods?token=${token}`],
  ['--manifest-url-header', `Authorization Bearer ${bearer}`],
  ['--manifest-url-heade', `Authorization: Bearer ${bearer}`],
])('URL secrets are not in the error message for an invalid %s', async (flag, value) => {
  const { code, out, err } = await statelet('run', '--root-dir', node.rootDir, `${flag}=${value}`);
  expect(code).toBe(1);
  expect(err).toContain(flag);
  expect(secretsIn(out + err)).toEqual([]);
});
