/**
 * Creates the routes of the agent's own metrics. `/metrics/resource` and `/metrics/cadvisor` have their own modules.
 */

import { sendText } from '../answers.ts';
import type { Exchange, Route } from '../exchange.ts';
import type { NodeMetrics } from './agent/nodeMetrics.ts';
import { processStartSeconds } from './agent/processMetrics.ts';
import { expositionChunks } from './exposition.ts';
import type { Registry } from './registry.ts';
import { answerMetrics } from './requests/answerMetrics.ts';

/** Creates the routes. Like the kubelet's, they accept any HTTP method. */
export function metricsRoutes({ all, probes, slis }: NodeMetrics['registries']): readonly Route[] {
  return [
    { tree: '/metrics', answer: exposition(all) },
    { tree: '/metrics/probes', answer: exposition(probes) },
    {
      tree: '/metrics/slis',
      answer: async (exchange) => (isDelete(exchange) ? reset(exchange, slis) : exposition(slis)(exchange)),
    },
  ];
}

const exposition =
  (registry: Registry): Route['answer'] =>
  async (exchange) =>
    answerMetrics(exchange, expositionChunks(await registry.families()), processStartSeconds() * 1_000);

const isDelete = ({ request }: Exchange): boolean => request.method === 'DELETE';

/** Handles DELETE, which resets the metrics (`HandlerWithReset` in `component-base/metrics/http.go`). */
function reset({ response }: Exchange, registry: Registry): void {
  registry.clear();
  sendText(response, { code: 200, text: 'metrics reset\n' });
}
