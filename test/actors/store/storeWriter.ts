/** Program that writes facts as fast as it can until it is killed. Its argument is the directory of the store. */
import * as z from 'zod/mini';
import { openStore } from '../../../actors/store/store.ts';

const [, , directory = ''] = process.argv;
const store = await openStore(directory, { facts: z.object({ turn: z.number(), padding: z.string() }) });
/** Large enough that a write takes several calls, so that a kill often interrupts one. */
const paddingOf = (turn: number) => `${turn},`.repeat(500_000 + turn);

for (let turn = 1; ; turn += 1) {
  const keys = Array.from({ length: 4 }, (_, index) => `/manifests/${index}.yaml`);
  await Promise.all(keys.map((key) => store.write('facts', key, { turn, padding: paddingOf(turn) })));
  await store.remove('facts', `/manifests/${turn % 4}.yaml`);
  process.stdout.write(`${turn}\n`);
}
