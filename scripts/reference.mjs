/**
 * Generates the commands, flags and fields in docs/reference.md from the code. With `--check`, writes nothing and fails
 * if the page is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProgram } from '../cli/program.ts';
import { fieldEntries } from '../node/config/settings/allSettings.ts';
import { withDefaults } from '../node/config/settings/settingTexts.ts';
import { unsupportedFlags } from '../node/config/settings/unsupportedFlags.ts';
import { root } from './setup/places.mjs';

const pagePath = join(root, 'docs/reference.md');

const escapeCell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Formats a table of two columns. Returns no lines if there are no rows. */
const formatTable = (heading, rows) =>
  rows.length === 0
    ? []
    : ['', `| ${heading} | |`, '|---|---|', ...rows.map(([name, text]) => `| ${name} | ${escapeCell(text)} |`)];

const choicesText = ({ argChoices = [] }) => (argChoices.length > 0 ? `: ${argChoices.join(', ')}` : '');

/** Formats the section of a command, or of each of its subcommands. */
function commandSection(command, names) {
  if (command.commands.length > 0)
    return command.commands.flatMap((each) => commandSection(each, [...names, each.name()]));
  const argumentNames = command.registeredArguments.map((argument) => {
    const displayName = `${argument.name()}${argument.variadic ? '...' : ''}`.toUpperCase();
    return argument.required ? displayName : `[${displayName}]`;
  });
  return [
    '',
    `### ${['statelet', ...names].join(' ')}`,
    '',
    `\`${['statelet', ...names, ...argumentNames].join(' ')}\`: ${escapeCell(command.description())}.`,
    ...formatTable(
      'Argument',
      command.registeredArguments.map((each) => [
        `\`${each.name().toUpperCase()}\``,
        each.description + choicesText(each),
      ]),
    ),
    ...formatTable(
      'Flag',
      command.options
        .filter(({ hidden }) => !hidden)
        .map((each) => [`\`${each.flags}\``, each.description + choicesText(each)]),
    ),
  ];
}

const program = createProgram({});
const visibleCommands = program
  .createHelp()
  .visibleCommands(program)
  .filter((command) => command.name() !== 'help');
const commandLines = visibleCommands.flatMap((command) => commandSection(command, [command.name()]));
const fieldLines = formatTable(
  'Field',
  fieldEntries()
    .filter(([, { effect }]) => effect !== undefined)
    .map(([name, entry]) => [`\`${name}\``, withDefaults(entry.effect, entry)]),
);
const otherFields = fieldEntries()
  .filter(([, { effect }]) => effect === undefined)
  .map(([name]) => `\`${name}\``);
const missingFlagLines = formatTable(
  'Flag',
  unsupportedFlags().map(({ name, field, why }) => [`\`${name}\``, field === undefined ? why : `\`${field}\``]),
);
const linesByPart = {
  commands: commandLines.slice(1),
  fields: fieldLines.slice(1),
  'other fields': [`${otherFields.join(', ')}.`],
  'missing flags': missingFlagLines.slice(1),
};

/** Replaces the lines between the markers of a generated part of the page. */
function replacePart(text, [name, lines]) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/reference.md has no ${begin} … ${end}`);
  return `${text.slice(0, from + begin.length)}\n${lines.join('\n')}\n${text.slice(to)}`;
}

const currentText = readFileSync(pagePath, 'utf8');
const updatedText = Object.entries(linesByPart).reduce(replacePart, currentText);
if (!process.argv.includes('--check')) writeFileSync(pagePath, updatedText);
else if (updatedText !== currentText) {
  console.error('docs/reference.md is stale: npm run reference');
  process.exit(1);
}
