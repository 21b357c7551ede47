/** A process that writes facts as fast as it can until it is killed; its arguments: the store's directory. */
import * as z from 'zod/mini';
import { openStore } from '../../actors/store.ts';

const [, , directory = ''] = process.argv;
const store = await openStore(directory, { facts: z.object({ turn: z.number(), padding: z.string() }) });
for (let turn = 1; ; turn += 1) {
  const keys = Array.from({ length: 8 }, (_, index) => `/manifests/${index}.yaml`);
  await Promise.all(
    keys.map((key) => store.write('facts', key, { turn, padding: String(turn).repeat(1 + ((turn * 997) % 9000)) })),
  );
  await store.remove('facts', `/manifests/${turn % 8}.yaml`);
  process.stdout.write(`${turn}\n`);
}
