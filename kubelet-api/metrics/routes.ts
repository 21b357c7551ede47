/**
 * Creates the routes of the agent's own metrics. `/metrics/resource` and `/metrics/cadvisor` have their own modules.
 */

import { sendText } from '../answers.ts';
import type { Exchange, Route } from '../exchange.ts';
import type { NodeMetrics } from './agent/nodeMetrics.ts';
import { processStartSeconds } from './agent/processMetrics.ts';
import { generateChunks } from './exposition.ts';
import type { Registry } from './registry.ts';
import { sendMetrics } from './requests/sendMetrics.ts';

/** Creates the routes, which accept any HTTP method, as in the kubelet. */
export function metricsRoutes({ all, probes, slis }: NodeMetrics['registries']): readonly Route[] {
  return [
    { pathPrefix: '/metrics', handle: createExpositionHandler(all) },
    { pathPrefix: '/metrics/probes', handle: createExpositionHandler(probes) },
    {
      pathPrefix: '/metrics/slis',
      handle: async (exchange) =>
        isDeleteRequest(exchange) ? resetRegistry(exchange, slis) : createExpositionHandler(slis)(exchange),
    },
  ];
}

const createExpositionHandler =
  (registry: Registry): Route['handle'] =>
  async (exchange) =>
    sendMetrics(exchange, generateChunks(await registry.families()), processStartSeconds() * 1_000);

const isDeleteRequest = ({ request }: Exchange): boolean => request.method === 'DELETE';

/** Handles DELETE, which resets the metrics (`HandlerWithReset` in `component-base/metrics/http.go`). */
function resetRegistry({ response }: Exchange, registry: Registry): void {
  registry.clear();
  sendText(response, { code: 200, text: 'metrics reset\n' });
}
