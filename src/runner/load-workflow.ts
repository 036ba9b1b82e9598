import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { PawlError } from '../index.js';
import { readWorkflow } from './read-workflow.js';
import { parseTemplate } from './template.js';
import type { Workflow } from './workflow.js';

/** All that a run needs of a workflow, as plain data: a run that goes on later is not changed by a file that was. */
export type Source = {
  readonly file: string;
  readonly text: string;
  /** The scripts and templates that it names, by the names that it has for them. */
  readonly files: Readonly<Record<string, string>>;
};

export type Loaded = { readonly source: Source; readonly workflow: Workflow };

const MOST_FILES_BYTES = 900_000;

/** Reads a workflow file and all files that it names. Throws WORKFLOW_INVALID with everything that is wrong, or FILE_UNREADABLE. */
export async function loadWorkflow(path: string, { cwd = process.cwd() } = {}): Promise<Loaded> {
  const full = resolve(cwd, path);
  const text = await readFile(full, 'utf8').catch((error: unknown) => {
    throw new PawlError('FILE_UNREADABLE', { detail: `${path} cannot be read`, cause: error });
  });
  return loadWorkflowText(text, { file: path, folder: dirname(full) });
}

/** The same for a workflow that is not in a file. Its scripts and templates are looked for in a folder. */
export async function loadWorkflowText(
  text: string,
  { file = 'workflow.yaml', folder = process.cwd() }: { file?: string; folder?: string } = {},
): Promise<Loaded> {
  const { workflow, reader, files: needed } = readWorkflow(text);
  const files: Record<string, string> = {};
  let bytes = Buffer.byteLength(text);
  for (const { path, node, isTemplate } of needed) {
    const content = await readFile(resolve(folder, path), 'utf8').catch(() => null);
    if (content === null) {
      reader.report(node, `there is no file ${path} that can be read`);
      continue;
    }
    files[path] = content;
    bytes += Buffer.byteLength(content);
    if (bytes > MOST_FILES_BYTES) {
      reader.report(node, `the workflow and its files are longer than ${MOST_FILES_BYTES} bytes`);
    }
    try {
      if (isTemplate) parseTemplate(content);
    } catch (error) {
      reader.report(node, `${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  reader.expectNoProblems(file);
  return { source: { file, text, files }, workflow };
}

/** A workflow that was loaded before. */
export function workflowOf({ text, file }: Source): Workflow {
  const { workflow, reader } = readWorkflow(text);
  reader.expectNoProblems(file);
  return workflow;
}
