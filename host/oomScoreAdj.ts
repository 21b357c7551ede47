import { readFile, writeFile } from 'node:fs/promises';
import { messageOf } from '../base/failure.ts';

const OWN_SCORE_FILE = '/proc/self/oom_score_adj';

/**
 * Sets the oom_score_adj of this process, as the kubelet does (`ApplyOOMScoreAdj` in `cmd/kubelet/app/server.go`).
 * Child processes that are started later inherit the value. Returns an error message, or undefined on success.
 */
export async function applyOomScoreAdj(value: number, path = OWN_SCORE_FILE): Promise<string | undefined> {
  try {
    await writeFile(path, String(value));
    return undefined;
  } catch (error) {
    const currentValue = await readFile(path, 'utf8').then(
      (contents) => contents.trim(),
      () => 'unknown',
    );
    return `the agent's oom_score_adj stays ${currentValue}, because it cannot be set to ${value} (this needs CAP_SYS_RESOURCE): ${messageOf(error)}`;
  }
}
