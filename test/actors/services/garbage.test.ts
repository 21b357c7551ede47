import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { garbageServices } from '../../../actors/services/garbage.ts';
import type { Cri } from '../../../cri/calls.ts';
import type { NodeFacts } from '../../../cri/nodeFacts.ts';
import { NodeFailure } from '../../../pod/failure.ts';
import type { Layout } from '../../../volume/layout.ts';
import { inFolder, signal } from '../../volume/onDisk.ts';

const gone = new NodeFailure('NotFound', 'not found');
const refused = new NodeFailure('RuntimeError', 'it is busy');

interface Disk {
  readonly folder: string;
  readonly layout: Layout;
}

/** The services over a runtime that has something to say to some ids; what was removed there is noted. */
function garbage({ folder, layout }: Disk, says: Readonly<Record<string, NodeFailure>> = {}) {
  const removed: string[] = [];
  const remove = async (id: string) => {
    if (says[id]) throw says[id];
    removed.push(id);
    return {};
  };
  const cri: Pick<Cri, 'removeContainer' | 'removePodSandbox'> = {
    removeContainer: ({ containerId }) => remove(containerId),
    removePodSandbox: ({ podSandboxId }) => remove(podSandboxId),
  };
  const node: Pick<NodeFacts, 'podLogsDir'> = { podLogsDir: join(folder, 'log', 'pods') };
  // They use no other call, and no other fact.
  const services = garbageServices({ cri: cri as Cri, node: node as NodeFacts, layout });
  const dead = (id: string) => ({
    pod: { namespace: 'default', name: 'web', uid: 'u1' },
    container: 'main',
    id,
    attempt: 0,
  });
  return {
    removed,
    survey: (known: string[]) => services.surveyDisk({ known }, { signal }),
    remove: (containers: string[], sandboxes: string[]) =>
      services.removeGarbage({ containers: containers.map(dead), sandboxes }, { signal }),
  };
}

test('dead containers and old sandboxes are removed; those that are gone already are no failure', async () => {
  await inFolder(async (folder, layout) => {
    const { remove, removed } = garbage({ folder, layout }, { 'c-gone': gone, 's-gone': gone });
    await expect(remove(['c-gone', 'c'], ['s-gone', 's'])).resolves.toBeNull();
    expect(removed.sort()).toEqual(['c', 's']);
  });
});

test.each(['c-busy', 's-busy'])(
  'when %s cannot be removed the others are all the same, and it is told',
  async (busy) => {
    await inFolder(async (folder, layout) => {
      const { remove, removed } = garbage({ folder, layout }, { [busy]: refused });
      await expect(remove(['c-busy', 'c'], ['s-busy', 's'])).rejects.toBe(refused);
      expect(removed).toEqual(expect.arrayContaining(['c', 's']));
    });
  },
);

test('what is on disk of pods that are known is not left over', async () => {
  await inFolder(async (folder, layout) => {
    for (const uid of ['known', 'left']) {
      await mkdir(join(layout.podsDir, uid), { recursive: true });
      await writeFile(join(layout.podsDir, uid, 'file'), 'x');
    }
    expect(await garbage({ folder, layout }).survey(['known'])).toEqual({
      pods: [{ uid: 'left', namespace: 'unknown', name: 'left' }],
    });
  });
});
