import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EnvVarSource } from '../../../kubernetes/api/schema/container.ts';
import {
  containerEnvironment,
  type EnvLookups,
  expandedCommand,
  expandReferences,
} from '../../../kubernetes/environment/environment.ts';
import { aContainer } from '../fixtures.ts';

const nothing: EnvLookups = { resolveValueSource: () => undefined, resolveAllValues: () => undefined };

describe('C21: $(VAR) expansion', () => {
  const values: Record<string, string> = { A: 'a', B: '$(A)', 'A.b-C': 'odd' };

  test.each([
    ['$(A)', 'a'],
    ['x$(A)y$(A)', 'xaya'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$a'],
    ['$$$$(A)', '$$(A)'],
    ['$(B)', '$(A)'],
    ['$(A.b-C)', 'odd'],
    ['$(NONE)', '$(NONE)'],
    ['$(A', '$(A'],
    ['$A', '$A'],
    ['$', '$'],
    ['a$', 'a$'],
    ['$()', '$()'],
    ['$(A))', 'a)'],
    ['$($(A))', '$($(A))'],
  ])('expands %s to %s', (text, expected) => {
    expect(expandReferences(text, (name) => values[name])).toBe(expected);
  });

  test('returns a text without a dollar sign unchanged, and doubled dollar signs restore any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('$', '');
        expect(expandReferences(plain, () => 'never')).toBe(plain);
        expect(expandReferences(text.replaceAll('$', '$$$$'), () => 'never')).toBe(text);
      }),
    );
  });

  test('inserts a value without expanding it again', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(expandReferences('<$(A)>', () => value)).toBe(`<${value}>`);
      }),
    );
  });
});

describe("C21: a container's environment", () => {
  test('expands variables that are defined before, not after', () => {
    const container = aContainer({
      env: [{ name: 'A', value: '$(B)' }, { name: 'B', value: 'b' }, { name: 'C', value: '$(B)$(C)' }, { name: 'D' }],
    });
    expect(containerEnvironment(container, nothing)).toEqual([
      { name: 'A', value: '$(B)' },
      { name: 'B', value: 'b' },
      { name: 'C', value: 'b$(C)' },
      { name: 'D', value: '' },
    ]);
  });

  test('lets env override envFrom, which overrides services, and uses the last value of a name', () => {
    const container = aContainer({
      envFrom: [{ prefix: 'P_', configMapRef: { name: 'c' } }, { secretRef: { name: 's' } }],
      env: [
        { name: 'X', value: 'env' },
        { name: 'SEEN', value: '$(SVC)-$(P_K)-$(K)' },
      ],
    });
    const found = containerEnvironment(container, {
      ...nothing,
      services: { SVC: 'svc', K: 'svc', X: 'svc' },
      resolveAllValues: ({ secretRef }) => (secretRef ? { K: 'secret', X: 'secret' } : { K: 'config' }),
    });
    expect(Object.fromEntries(found.map(({ name, value }) => [name, value]))).toEqual({
      SVC: 'svc',
      K: 'secret',
      P_K: 'config',
      X: 'env',
      SEEN: 'svc-config-secret',
    });
  });

  test('does not expand referenced values', () => {
    const container = aContainer({
      env: [
        { name: 'A', value: 'a' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
    });
    const found = containerEnvironment(container, { ...nothing, resolveValueSource: () => '$(A)' });
    expect(found).toContainEqual({ name: 'B', value: '$(A)' });
  });

  test('leaves out a missing optional value, and fails for a missing required one', () => {
    const withSource = (valueFrom: EnvVarSource) => aContainer({ env: [{ name: 'A', valueFrom }] });
    const optional = withSource({ secretKeyRef: { name: 's', key: 'k', optional: true } });
    expect(containerEnvironment(optional, nothing)).toEqual([]);
    expect(() => containerEnvironment(withSource({ secretKeyRef: { name: 's', key: 'k' } }), nothing)).toThrow(
      expect.objectContaining({ reason: 'CreateContainerConfigError' }),
    );
    expect(
      containerEnvironment(aContainer({ envFrom: [{ configMapRef: { name: 's', optional: true } }] }), nothing),
    ).toEqual([]);
  });

  test('expands command and args', () => {
    const container = aContainer({ command: ['sh', '$(A)'], args: ['$$(A)', '$(B)'] });
    expect(expandedCommand(container, [{ name: 'A', value: 'a' }])).toEqual({
      command: ['sh', 'a'],
      args: ['$(A)', '$(B)'],
    });
  });

  describe('with variables that each double the size', () => {
    const doubling = (count: number, start = 'x') => [
      { name: 'V0', value: start },
      ...Array.from({ length: count }, (_, index) => ({ name: `V${index + 1}`, value: `$(V${index})$(V${index})` })),
    ];
    const message = (field: string) =>
      `${field}: the values up to here are longer than 16 MiB once $(VAR) is expanded, and no runtime accepts more`;

    test.each([
      ['at the first variable that is too much', doubling(5_000), 'env[24].value'],
      ['by bytes instead of characters', doubling(5_000, 'é'), 'env[23].value'],
    ])('is rejected %s, before any expansion', (_, env, field) => {
      expect(() => containerEnvironment(aContainer({ env }), nothing)).toThrow(
        expect.objectContaining({ reason: 'CreateContainerConfigError', message: message(field) }),
      );
    });

    test('accepts the maximum message size of the runtime', () => {
      const values = containerEnvironment(aContainer({ env: doubling(22) }), nothing);
      expect(values.at(-1)?.value).toHaveLength(2 ** 22);
    });

    test('is rejected for values of objects as well', () => {
      const lookups: EnvLookups = { ...nothing, resolveAllValues: () => ({ BIG: 'x'.repeat(17 * 2 ** 20) }) };
      const container = aContainer({ envFrom: [{ configMapRef: { name: 'big' } }] });
      expect(() => containerEnvironment(container, lookups)).toThrow(message('variable BIG'));
    });

    test('counts a redefined variable once', () => {
      const env = Array.from({ length: 40 }, () => ({ name: 'BIG', value: 'x'.repeat(2 ** 20) }));
      expect(containerEnvironment(aContainer({ env }), nothing)).toHaveLength(1);
    });

    test('waits for a change of the pod, unless values of services or files contribute to the size', () => {
      const failureWith = (container: Parameters<typeof aContainer>[0], lookups: Partial<EnvLookups> = {}) => {
        try {
          containerEnvironment(aContainer(container), { ...nothing, ...lookups });
        } catch (error) {
          return error;
        }
        throw new Error('the environment is not too large');
      };
      const large = 'x'.repeat(17 * 2 ** 20);
      const ofObject = failureWith(
        { envFrom: [{ configMapRef: { name: 'big' } }] },
        { resolveAllValues: () => ({ large }) },
      );
      expect(ofObject).toMatchObject({ isPermanent: true });
      expect(failureWith({ env: doubling(30) }, { services: { A: 'b' } })).toMatchObject({ isPermanent: true });
      expect(failureWith({}, { services: { A: large } })).toMatchObject({ isPermanent: false });
      const fileKeyRef = { volumeName: 'v', path: 'env', key: 'A' };
      const env = [{ name: 'A', valueFrom: { fileKeyRef } }];
      expect(failureWith({ env }, { resolveValueSource: () => large })).toMatchObject({ isPermanent: false });
    });

    test('is rejected for command and arguments as well', () => {
      const environment = [{ name: 'BIG', value: 'x'.repeat(2 ** 20) }];
      const args = ['start', '$(BIG)'.repeat(17)];
      expect(() => expandedCommand(aContainer({ args }), environment)).toThrow(message('args[1]'));
      expect(() => expandedCommand(aContainer({ command: args }), environment)).toThrow(message('command[1]'));
    });
  });
});
