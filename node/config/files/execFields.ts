/** Defines the fields of a user's exec credential plugin in a kubeconfig (`clientcmd/api/v1` of client-go). */
import * as z from 'zod/mini';
import { booleanSchema, enumSchema, listSchema, matchingStringSchema, stringSchema } from '../fields/fields.ts';

const variableSchema = z.looseObject({ name: stringSchema, value: stringSchema });

const fields = z.looseObject(
  {
    apiVersion: enumSchema('client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'),
    command: matchingStringSchema('a program', (command) => command !== ''),
    args: z.nullish(listSchema(stringSchema)),
    env: z.nullish(listSchema(variableSchema)),
    installHint: z.optional(stringSchema),
    provideClusterInfo: z.optional(booleanSchema),
    interactiveMode: z.optional(enumSchema('Never', 'IfAvailable', 'Always')),
  },
  { error: 'expected a map of fields' },
);

/** Schema of an exec plugin. A node has no terminal, so the plugin cannot prompt. */
export const execSchema = fields.check(
  z.refine(({ interactiveMode }) => interactiveMode !== 'Always', {
    error: 'interactiveMode: expected "Never" or "IfAvailable", for nobody can be asked here',
  }),
  z.refine(({ apiVersion, interactiveMode }) => interactiveMode !== undefined || apiVersion.endsWith('v1beta1'), {
    error: 'interactiveMode: expected "Never" or "IfAvailable"',
  }),
);

export type ExecFields = z.output<typeof execSchema>;
