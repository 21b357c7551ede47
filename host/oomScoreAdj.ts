/** The kernel's readiness to kill this process when memory runs out. */
import { readFile, writeFile } from 'node:fs/promises';
import { messageOf } from '../base/failure.ts';

const OWN = '/proc/self/oom_score_adj';

/**
 * Sets it for this process, as a kubelet does for itself (`ApplyOOMScoreAdj` in `cmd/kubelet/app/server.go`). Children
 * that are started later inherit it. Returns a sentence that says why it could not be set, or undefined if it was.
 */
export async function applyOomScoreAdj(wanted: number, path = OWN): Promise<string | undefined> {
  try {
    await writeFile(path, String(wanted));
    return undefined;
  } catch (error) {
    const present = await readFile(path, 'utf8').then(
      (text) => text.trim(),
      () => 'unknown',
    );
    return `the agent's oom_score_adj stays ${present}, because it cannot be set to ${wanted} (this needs CAP_SYS_RESOURCE): ${messageOf(error)}`;
  }
}
