/** What a node's heartbeats ask the API server: each try in good time, and by a new connection where one may be dead. */
import { UnexpectedResponse } from '../../../kubeclient/answer.ts';
import type { CallOptions, KubeClient } from '../../../kubeclient/client.ts';
import { KubeError } from '../../../kubeclient/kubeError.ts';

export type HeartbeatClient = Pick<KubeClient, 'get' | 'create' | 'update' | 'patch'>;

/** So often in a row nobody may answer before the connections are given up (`tryUpdateNodeStatus` of a kubelet). */
const MOST_FAILURES = 1;

/**
 * Asks through a client. A connection whose other end is gone without a word is noticed by its silence after longer than a
 * lease allows: from the second try on that nobody answers, the next one goes over a new connection.
 */
export function heartbeatClient(client: KubeClient, timeoutMs: number): HeartbeatClient {
  let failures = 0;
  async function attempt(options: CallOptions, ask: (within: CallOptions) => Promise<unknown>): Promise<unknown> {
    try {
      const answer = await ask({ ...options, timeoutMs: Math.min(timeoutMs, options.timeoutMs ?? timeoutMs) });
      failures = 0;
      return answer;
    } catch (error) {
      if (options.signal.aborted) throw error;
      failures = isAnswer(error) ? 0 : failures + 1;
      if (failures > MOST_FAILURES) client.reconnect();
      throw error;
    }
  }
  return {
    get: (path, options) => attempt(options, (within) => client.get(path, { ...options, ...within })),
    create: (path, object, options) => attempt(options, (within) => client.create(path, object, within)),
    update: (path, object, options) => attempt(options, (within) => client.update(path, object, within)),
    patch: (path, patch, options) => attempt(options, (within) => client.patch(path, patch, { ...options, ...within })),
  };
}

/** Somebody has answered, even if not what was asked for. */
const isAnswer = (error: unknown): boolean => error instanceof KubeError || error instanceof UnexpectedResponse;
