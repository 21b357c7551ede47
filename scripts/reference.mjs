/**
 * Generates the commands, flags and fields in docs/reference.md from the code. With `--check`, writes nothing and fails
 * if the page is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProgram } from '../cli/program.ts';
import { fieldEntries } from '../node/config/settings/allSettings.ts';
import { missingFlags } from '../node/config/settings/missingFlags.ts';
import { withDefaults } from '../node/config/settings/settingTexts.ts';
import { root } from './setup/places.mjs';

const page = join(root, 'docs/reference.md');

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Formats a table of two columns, or nothing without rows. */
const table = (head, rows) =>
  rows.length === 0
    ? []
    : ['', `| ${head} | |`, '|---|---|', ...rows.map(([name, text]) => `| ${name} | ${cell(text)} |`)];

const choices = ({ argChoices = [] }) => (argChoices.length > 0 ? `: ${argChoices.join(', ')}` : '');

/** Formats the section of a command, or of each of its subcommands. */
function commandSection(command, names) {
  if (command.commands.length > 0)
    return command.commands.flatMap((each) => commandSection(each, [...names, each.name()]));
  const words = command.registeredArguments.map((argument) => {
    const shown = `${argument.name()}${argument.variadic ? '...' : ''}`.toUpperCase();
    return argument.required ? shown : `[${shown}]`;
  });
  return [
    '',
    `### ${['statelet', ...names].join(' ')}`,
    '',
    `\`${['statelet', ...names, ...words].join(' ')}\`: ${cell(command.description())}.`,
    ...table(
      'Argument',
      command.registeredArguments.map((each) => [`\`${each.name().toUpperCase()}\``, each.description + choices(each)]),
    ),
    ...table(
      'Flag',
      command.options
        .filter(({ hidden }) => !hidden)
        .map((each) => [`\`${each.flags}\``, each.description + choices(each)]),
    ),
  ];
}

const program = createProgram({});
const shown = program
  .createHelp()
  .visibleCommands(program)
  .filter((command) => command.name() !== 'help');
const commands = shown.flatMap((command) => commandSection(command, [command.name()]));
const fields = table(
  'Field',
  fieldEntries()
    .filter(([, { effect }]) => effect !== undefined)
    .map(([name, entry]) => [`\`${name}\``, withDefaults(entry.effect, entry)]),
);
const others = fieldEntries()
  .filter(([, { effect }]) => effect === undefined)
  .map(([name]) => `\`${name}\``);
const missing = table(
  'Flag',
  missingFlags().map(({ name, field, why }) => [`\`${name}\``, field === undefined ? why : `\`${field}\``]),
);
const written = {
  commands: commands.slice(1),
  fields: fields.slice(1),
  'other fields': [`${others.join(', ')}.`],
  'missing flags': missing.slice(1),
};

/** Replaces the lines between the markers of a part. */
function withPart(text, [name, lines]) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/reference.md has no ${begin} … ${end}`);
  return `${text.slice(0, from + begin.length)}\n${lines.join('\n')}\n${text.slice(to)}`;
}

const before = readFileSync(page, 'utf8');
const after = Object.entries(written).reduce(withPart, before);
if (!process.argv.includes('--check')) writeFileSync(page, after);
else if (after !== before) {
  console.error('docs/reference.md is stale: npm run reference');
  process.exit(1);
}
