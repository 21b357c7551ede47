import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { NodeFailure } from '../../../../base/failure.ts';
import { PodSandboxStatusResponse } from '../../../../cri/generated/runtime.ts';
import { removeNetNamespaces } from '../../../../cri/managed/network/netNamespaces.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-netns-'));
  for (const name of ['cni-a', 'cni-b']) await writeFile(join(directory, name), '');
});
afterEach(() => rm(directory, { recursive: true }));

const specWith = (path: string) =>
  JSON.stringify({ runtimeSpec: { linux: { namespaces: [{ type: 'pid' }, { type: 'network', path }] } } });

/** Removes the network namespaces that none of these sandboxes uses, and returns the remaining ones. */
async function leftBeside(told: Readonly<Record<string, string | Error>>): Promise<string[]> {
  const held = (await readdir(directory)).map((name) => join(directory, name));
  const infos = new Map(Object.entries(told));
  const podSandboxStatus = async ({ podSandboxId }: { podSandboxId: string }) => {
    const info = infos.get(podSandboxId);
    if (info instanceof Error) throw info;
    return PodSandboxStatusResponse.fromPartial({ info: info === undefined ? {} : { info } });
  };
  const sandboxes = [...infos.keys()];
  await removeNetNamespaces(held, { cri: { podSandboxStatus }, sandboxes, signal: new AbortController().signal });
  return (await readdir(directory)).sort();
}

describe('network namespaces of former sandboxes', () => {
  test('are preserved if a sandbox uses them, even under a different directory path', async () => {
    expect(await leftBeside({ web: specWith('/elsewhere/cni-a') })).toEqual(['cni-a']);
  });

  test('are not preserved for a removed sandbox or one on the host network', async () => {
    const gone = new NodeFailure('NotFound', 'PodSandboxStatus: not found');
    const onHost = JSON.stringify({ runtimeSpec: { linux: { namespaces: [{ type: 'pid' }] } } });
    expect(await leftBeside({ gone, onHost, web: specWith(join(directory, 'cni-b')) })).toEqual(['cni-b']);
  });

  test.each([
    ['nothing', ''],
    ['no specification', '{"runtimeSpec":null}'],
    ['an error', new NodeFailure('RuntimeUnavailable', 'PodSandboxStatus: timed out')],
  ])('are all preserved if %s is reported for one of them, with a message', async (_, info) => {
    await expect(leftBeside({ a: specWith(join(directory, 'cni-a')), b: info })).rejects.toThrow(
      /^the networks of former sandboxes are kept, because containerd did not report the network of sandbox b$/,
    );
    expect(await readdir(directory)).toHaveLength(2);
  });
});
