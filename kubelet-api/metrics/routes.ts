/** The paths of what a node counts itself: those of its containers' use are elsewhere. */

import { sendText } from '../answers.ts';
import type { Exchange, Route } from '../exchange.ts';
import type { NodeMetrics } from './agent/nodeMetrics.ts';
import { processStart } from './agent/processMetrics.ts';
import { expositionChunks } from './exposition.ts';
import type { Registry } from './registry.ts';
import { answerMetrics } from './requests/answerMetrics.ts';

/** `/metrics`, `/metrics/probes` and `/metrics/slis`: by any method, as a kubelet. */
export function metricsRoutes({ all, probes, slis }: NodeMetrics['paths']): readonly Route[] {
  return [
    { tree: '/metrics', answer: shows(all) },
    { tree: '/metrics/probes', answer: shows(probes) },
    {
      tree: '/metrics/slis',
      answer: async (exchange) => (isDelete(exchange) ? reset(exchange, slis) : shows(slis)(exchange)),
    },
  ];
}

const shows =
  (registry: Registry): Route['answer'] =>
  async (exchange) =>
    answerMetrics(exchange, expositionChunks(await registry.families()), processStart() * 1_000);

const isDelete = ({ request }: Exchange): boolean => request.method === 'DELETE';

/** Whoever may delete them has them begin anew (`HandlerWithReset` in `component-base/metrics/http.go`). */
function reset({ response }: Exchange, registry: Registry): void {
  registry.clear();
  sendText(response, { code: 200, text: 'metrics reset\n' });
}
