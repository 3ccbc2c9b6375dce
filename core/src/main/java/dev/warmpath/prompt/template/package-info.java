/**
 * Chat templates: Jinja2 3.1 as Hugging Face transformers runs it, in plain Java.
 *
 * <p>A model's chat template is a Jinja2 program that turns messages into the prompt the model was
 * trained on. {@link dev.warmpath.prompt.template.ChatTemplate} compiles one and renders it as an
 * inference engine's Python would, character for character, or fails with the same kind of error.
 */
@NullMarked
package dev.warmpath.prompt.template;

import org.jspecify.annotations.NullMarked;
