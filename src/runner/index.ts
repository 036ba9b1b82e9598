/** Workflow files, applied on hosts. */
export { apply, type Applied, type ApplyOptions } from './apply.js';
export { loadWorkflow, loadWorkflowText, type Loaded } from './load-workflow.js';
export { planLines, planOf, type PlannedHost, type PlannedStep } from './plan.js';
export type { Host, Step, Workflow } from './workflow.js';
export type { Problem } from './yaml-reader.js';
