import { describe, expect, test } from '@jest/globals';
import { compileTemplate } from '../../../../cli/output/format/compileTemplate.ts';
import { PathSyntaxError } from '../../../../cli/output/format/pathSyntaxError.ts';

const web = {
  metadata: { name: 'web', labels: { 'app.kubernetes.io/name': 'shop', constructor: 'own' } },
  spec: { containers: [{ image: 'one' }, { image: 'two' }], hostNetwork: true, nothing: null },
  status: {
    phase: 'Running',
    capacity: { cpu: 4 },
    conditions: [{ type: 'Ready', status: 'True' }, { type: 'Other' }],
  },
};
const db = { metadata: { name: 'db' }, spec: { containers: [] }, status: { phase: 'Pending', capacity: { cpu: 8 } } };
const list = { kind: 'List', items: [web, db] };

describe('a kubectl template', () => {
  test.each([
    ['text alone \\n', 'text alone \\n'],
    ['{.kind}', 'List'],
    ['{$.kind}, {@.kind}, {["kind"]}', undefined],
    ['{$.kind}, {@.kind}', 'List, List'],
    ['{.items[*].metadata.name}', 'web db'],
    ['{ .items[*].metadata.name }', 'web db'],
    ['{.items[1].metadata.name}', 'db'],
    ['{.items[-1].metadata.name}', 'db'],
    ['{.items[0:1].metadata.name}', 'web'],
    ['{.items[::2].metadata.name}', 'web'],
    ['{.items[0,1].metadata.name}', 'web db'],
    ['{.items[9].metadata.name}', ''],
    ['{.items[*].none}', ''],
    ['{..image}', 'one two'],
    ['{.items[*].status.capacity.*}', '4 8'],
    [String.raw`{.items[0].metadata.labels.app\.kubernetes\.io/name}`, 'shop'],
    ["{.items[0]['metadata.name']}", 'web'],
    ["{.items[*]['metadata.name', 'status.capacity']}", 'web {"cpu":4} db {"cpu":8}'],
    ['{.items[?(@.status.phase=="Running")].metadata.name}', 'web'],
    ["{.items[?(@.status.phase!='Running')].metadata.name}", 'db'],
    ['{.items[?(@.metadata.labels.none!="x")].metadata.name}', ''],
    ['{.items[?(@.status.capacity.cpu>4)].metadata.name}', 'db'],
    ['{.items[?(@.spec.hostNetwork==true)].metadata.name}', 'web'],
    ['{.items[?(@.spec.hostNetwork)].metadata.name}', 'web'],
    ['{.items[*].status.conditions[?(@.type=="Ready")].status}', 'True'],
    ['{range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}.', 'web\tRunning\ndb\tPending\n.'],
    ['{range .items[*]}{range .spec.containers[*]}<{.image}>{end};{end}', '<one><two>;;'],
    ['{.items[0].spec.hostNetwork} {.items[0].spec.nothing}', 'true null'],
    ['{.items[0].metadata}', '{"labels":{"app.kubernetes.io/name":"shop","constructor":"own"},"name":"web"}'],
    ['{.items[0].metadata.labels.constructor}{.items[1].constructor}', 'own'],
    ["{'it\\'s'} {\"\\u003c\"}", "it's <"],
  ])('%j', (template, printed) => {
    if (printed === undefined) expect(() => compileTemplate(template)).toThrow(PathSyntaxError);
    else expect(compileTemplate(template)(list)).toBe(printed);
  });

  test('prints an object on one line with HTML characters escaped', () => {
    expect(compileTemplate('{.}')({ b: '<&>\u2028', a: [1] })).toBe('{"a":[1],"b":"\\u003c\\u0026\\u003e\\u2028"}');
  });
});

test.each([
  ['{', 'unclosed action'],
  ['{.kind', 'unclosed action'],
  ['{.kind,}', 'unrecognized character'],
  ['{metadata.name}', 'unrecognized identifier metadata'],
  ['{.items[}', 'unterminated array'],
  ['{.items[x]}', 'invalid array index x'],
  ['{.items[]}', 'invalid array index '],
  ['{.items[?(@.a==1}', 'unterminated filter'],
  ['{.items[?(@.a=1)]}', 'unrecognized filter operator ='],
  ['{....name}', 'invalid multiple recursive descent'],
  ['{..}', "expected a name or brackets after '..'"],
  ['{range .items[*]}x', 'a range without {end}'],
  ['{end}', 'not in range, nothing to end'],
  ['{.items[99999999999999999999]}', 'index out of range'],
])('the template %j is rejected with the message: %s', (template, problem) => {
  expect(() => compileTemplate(template)).toThrow(PathSyntaxError);
  expect(() => compileTemplate(template)).toThrow(problem);
});
