/** Sets timeouts on a node's heartbeat requests and reconnects after failures. */
import { UnexpectedResponse } from '../../../kubeclient/answer.ts';
import type { CallOptions, KubeClient } from '../../../kubeclient/client.ts';
import { KubeError } from '../../../kubeclient/kubeError.ts';

export type HeartbeatClient = Pick<KubeClient, 'get' | 'create' | 'update' | 'patch'>;

/**
 * Number of consecutive attempts without a response that are tolerated before reconnecting (`tryUpdateNodeStatus` of a
 * kubelet).
 */
const MAX_FAILURES = 1;

/**
 * Returns a client whose requests time out after at most `timeoutMs`. The client reconnects after the second and any
 * further consecutive attempt without a response, because a lease would expire before a silent connection is detected
 * as broken.
 */
export function createHeartbeatClient(client: KubeClient, timeoutMs: number): HeartbeatClient {
  let failureCount = 0;
  async function attemptRequest(
    options: CallOptions,
    request: (limited: CallOptions) => Promise<unknown>,
  ): Promise<unknown> {
    try {
      const response = await request({ ...options, timeoutMs: Math.min(timeoutMs, options.timeoutMs ?? timeoutMs) });
      failureCount = 0;
      return response;
    } catch (error) {
      if (options.signal.aborted) throw error;
      failureCount = isResponse(error) ? 0 : failureCount + 1;
      if (failureCount > MAX_FAILURES) client.reconnect();
      throw error;
    }
  }
  return {
    get: (path, options) => attemptRequest(options, (limited) => client.get(path, { ...options, ...limited })),
    create: (path, object, options) => attemptRequest(options, (limited) => client.create(path, object, limited)),
    update: (path, object, options) => attemptRequest(options, (limited) => client.update(path, object, limited)),
    patch: (path, patch, options) =>
      attemptRequest(options, (limited) => client.patch(path, patch, { ...options, ...limited })),
  };
}

/** Whether the server has responded, even if with an error. */
const isResponse = (error: unknown): boolean => error instanceof KubeError || error instanceof UnexpectedResponse;
