package dev.warmpath.fake.lab;

/** What a lab's workers are. */
public enum WorkerModel {
  /** The scheduler of the engine, pass by pass. */
  ENGINE,
  /**
   * The worker of the fleet study, {@link dev.warmpath.fake.study.StudyRank}: first come first
   * served, answers' room taken at admission, the passes of Dynamo's mocker. Its cache has as many
   * blocks as {@link LabSettings#core()} says; nothing else of the scheduler's knobs or of the
   * timing model matters.
   */
  FLEET_STUDY
}
