/** Defines the fields of a user's exec credential plugin in a kubeconfig (`clientcmd/api/v1` of client-go). */
import * as z from 'zod/mini';
import { boolean, list, oneOf, text, textLike } from './fields.ts';

const variable = z.looseObject({ name: text, value: text });

const fields = z.looseObject(
  {
    apiVersion: oneOf('client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'),
    command: textLike('a program', (command) => command !== ''),
    args: z.nullish(list(text)),
    env: z.nullish(list(variable)),
    installHint: z.optional(text),
    provideClusterInfo: z.optional(boolean),
    interactiveMode: z.optional(oneOf('Never', 'IfAvailable', 'Always')),
  },
  { error: 'expected a map of fields' },
);

/** Schema of an exec plugin. A node has no terminal, so the plugin cannot prompt. */
export const exec = fields.check(
  z.refine(({ interactiveMode }) => interactiveMode !== 'Always', {
    error: 'interactiveMode: expected "Never" or "IfAvailable", for nobody can be asked here',
  }),
  z.refine(({ apiVersion, interactiveMode }) => interactiveMode !== undefined || apiVersion.endsWith('v1beta1'), {
    error: 'interactiveMode: expected "Never" or "IfAvailable"',
  }),
);

export type ExecFields = z.output<typeof exec>;
