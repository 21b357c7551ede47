import { expect, test } from '@jest/globals';
import { MemoryDisk } from '../../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../../host/simulated/memoryFiles.ts';
import { DirectoryWatches } from '../../../../testing/simulation/faults/directoryWatches.ts';
import { TemporaryFaults } from '../../../../testing/simulation/faults/temporaryFaults.ts';
import { gatedFiles } from '../../../../testing/simulation/host/gatedFiles.ts';
import { type CallFault, Gate } from '../../../../testing/simulation/run/gate.ts';
import { Schedule } from '../../../../testing/simulation/run/schedule.ts';
import { signal } from '../../../volume/onDisk.ts';

/** Creates the files of an agent whose calls have this fault, and an unaffected view of the same disk. */
function withFate(fault: CallFault) {
  const clock = new Schedule(0);
  const disk = new MemoryDisk(() => 0);
  const files = new MemoryFiles(disk);
  const gate = new Gate({
    clock,
    plan: () => fault,
    faultsEnded: async () => {},
    nextIndex: () => 0,
    onCall: () => {},
    onAgentDied: () => gate.close({ cutsCalls: true }),
  });
  return { disk, files, gated: gatedFiles(files, gate, new DirectoryWatches(clock, new TemporaryFaults(clock))) };
}
type Files = ReturnType<typeof withFate>['files'];
type Gated = ReturnType<typeof withFate>['gated'];

const begin = async (files: Files) => {
  await files.mkdir('/d/of/it', { recursive: true });
  for (const name of ['a', 'b']) await files.writeFile(`/d/of/it/${name}`, '0123456789');
};
const textAt = (files: Files, path: string) => (files.existsSync(path) ? files.readFileSync(path) : undefined);

const PARTS: readonly (readonly [string, (gated: Gated) => Promise<unknown>, (files: Files) => unknown, unknown])[] = [
  ['a file', (gated) => gated.writeFile('/d/new', 'abcdef'), (files) => textAt(files, '/d/new'), 'abc'],
  [
    'a compressed file',
    (gated) => gated.gzip('/d/of/it/a', '/d/a.gz', signal),
    (files) => ['/d/a.gz', '/d/of/it/a'].map((path) => textAt(files, path)),
    ['01234', '0123456789'],
  ],
  [
    'directories above each other',
    (gated) => gated.mkdir('/d/x/y/z', { recursive: true }),
    (files) => ['/d/x/y', '/d/x/y/z'].map((path) => files.existsSync(path)),
    [true, false],
  ],
  ['a single directory', (gated) => gated.mkdir('/d/x'), (files) => files.existsSync('/d/x'), false],
  ['a tree', (gated) => gated.removeTree('/d/of/it', signal), (files) => files.readdirSync('/d/of/it'), ['b']],
];

test.each(PARTS)(
  'a call on %s is left half done if the disk is full or the agent dies during the call',
  async (_, act, found, expected) => {
    const full = withFate({ kind: 'fail', code: 'ENOSPC', inPart: true });
    await begin(full.files);
    await expect(act(full.gated)).rejects.toThrow('ENOSPC');
    expect(found(full.files)).toEqual(expected);
    const dying = withFate({ kind: 'death', when: 'during' });
    await begin(dying.files);
    void act(dying.gated);
    await new Promise(setImmediate);
    expect(found(dying.files)).toEqual(expected);
  },
);

test('a removal that fails halfway removes no files below a mount', async () => {
  const { disk, files, gated } = withFate({ kind: 'fail', code: 'EIO', inPart: true });
  await begin(files);
  disk.mount('tmpfs', '/d/of/it');
  await files.writeFile('/d/of/it/theirs', 'kept');
  await expect(gated.removeTree('/d', signal)).rejects.toThrow('EIO');
  expect(textAt(files, '/d/of/it/theirs')).toBe('kept');
});
