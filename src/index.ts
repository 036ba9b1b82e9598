/** What applications import. */
export { cannotTell, effect, fatal, happened, noEffect, notHappened } from './client/effect.js';
export type { Effect, EffectOptions } from './client/effect.js';
export { Alerts } from './client/alerts.js';
export { defineConfig } from './client/define-config.js';
export type { PawlConfig } from './client/define-config.js';
export { DeadLetters } from './client/dead-letters.js';
export { Evidence, verifyEvidenceFile } from './client/evidence.js';
export { JobHandle } from './client/job-handle.js';
export { systemClock } from './client/system-clock.js';
export { jsonLogger } from './client/console-logger.js';
export { Pawl, pawl } from './client/pawl.js';
export type { PawlOptions, Start, StartWith, WorkOptions } from './client/pawl.js';
export { schedule, Schedules } from './client/schedules.js';
export type { DeclaredSchedule, ScheduleDeclaration } from './client/schedules.js';
export { newRunId } from './client/new-run-id.js';
export { runStates, RunStates } from './client/run-states.js';
export type { RunStatesOptions, TrackOptions } from './client/run-states.js';
export type { RetentionOptions } from './client/retention-options.js';
export type { StandardSchema } from './client/standard-schema.js';
export { task } from './client/task.js';
export type { Task, TaskOptions } from './client/task.js';
export { runEndOf, type RunEnd } from './contracts/run-end.js';
export { selectRuns, type RunFilter } from './contracts/run-list.js';
export { applyRunPatch, newRun, runSummary } from './contracts/run-patch.js';
export type { HostPatch, RunPatch, StepPatch } from './contracts/run-patch.js';
export type {
  Reconciliation,
  RunCallback,
  RunSnapshot,
  RunState,
  RunSummary,
} from './contracts/run-state.js';
export type { HostSnapshot, StepSnapshot, StepState } from './contracts/run-state-steps.js';
export type { Alert, AlertPayload, AlertRule, AlertState, Severity } from './engine/alerts/alert.js';
export type { AlertSettings } from './engine/alerts/alert-options.js';
export type { CallbackEvents, Subscription } from './engine/callbacks/subscription-cache.js';
export { toMs, type Duration } from './engine/duration.js';
export { METRICS, type Metric } from './engine/metric-names.js';
export type { EvidenceSink, JobEvidence } from './engine/evidence/evidence-sink.js';
export { EvidenceExport } from './engine/evidence/export-evidence.js';
export { verifyEvidence } from './engine/evidence/verify-evidence.js';
export type { EvidenceVerdict } from './engine/evidence/verify-evidence.js';
export type { JobVerdict, StoreVerdict } from './engine/evidence/verify-store.js';
export type { StartOptions } from './engine/new-job.js';
export type { Schedule } from './engine/schedules/schedule.js';
export type { When } from './engine/schedules/timing.js';
export type { Explanation } from './engine/why.js';
export { PawlError } from './errors.js';
export type { ErrorCode } from './errors.js';
export type { StatementList } from './ports/store.js';
export type { Clock } from './ports/clock.js';
export type { Logger } from './ports/logger.js';
export type { Notifier } from './ports/notifier.js';
export type { Recorder } from './ports/recorder.js';
export type { RunStateStore } from './ports/run-state-store.js';
export type { Tracing } from './ports/tracing.js';
export { composeRecorders, type FullRecorder } from './tracker/compose-recorders.js';
export type { Finding } from './tracker/reconcile-run.js';
export { RunTracker } from './tracker/run-tracker.js';
export type { EffectContext, Verdict } from './worker/effect-definition.js';
export type { AttemptOutcome, Hooks } from './worker/hooks.js';
export type { Json } from './worker/json.js';
export { StepError } from './worker/run-step.js';
export type { Steps } from './worker/steps.js';
export type { JobInfo } from './worker/job-info.js';
export type { HandlerContext } from './worker/task-definition.js';
